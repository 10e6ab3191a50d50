"""Nothing keeps two claims of a run apart in the store as it was opened.

Why: A run goes on for the one who wins the next name of its journal. Through a web server, an archive, a cache or an
unknown kind of storage two can win, or nobody can: whoever went on all the same could send what another sends too.

Fix: Open the store by the URL that its records were written to: a path, s3://, gs:// or az://, with nothing before
it. A copy elsewhere may go on only once nobody can go on with the original. `safepoint doctor URL` tries what a place
can do.
"""

NAME = "store-cannot-fence"
SEVERITY = "error"
SECTION = "guard-ownership"
