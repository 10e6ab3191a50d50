"""``--format sarif``: SARIF 2.1.0. Microsoft's own validator reads the logs in ``test_sarif_tool.py``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from checks import CLEAN, HOSTILE, LOOSE, NOWHERE, RUN, TIME, context, reported, summary

from safepoint.core.finding import Checked
from safepoint.render.sarif import sarif_report
from safepoint.rules import catalogue

WHOLE = """\
{
  "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "results": [
        {
          "ruleId": "SP207",
          "ruleIndex": 0,
          "level": "error",
          "message": {
            "text": "expected a time, found a string."
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "store/runs/run-1/journal.jsonl",
                  "uriBaseId": "%SRCROOT%"
                },
                "region": {
                  "startLine": 3,
                  "startColumn": 14,
                  "endLine": 3,
                  "endColumn": 23
                }
              },
              "logicalLocations": [
                {
                  "fullyQualifiedName": "/createdAt"
                }
              ]
            }
          ],
          "partialFingerprints": {
            "safepoint/v1": "359e8cc7e948eb8c8e1d9e5d9595c418"
          },
          "properties": {
            "key": "runs/run-1/journal.jsonl"
          }
        }
      ],
      "invocations": [
        {
          "executionSuccessful": true,
          "exitCode": 1,
          "toolExecutionNotifications": [
            {
              "level": "note",
              "message": {
                "text": "Not checked in 1 run: SP303; a record before it is missing."
              }
            }
          ]
        }
      ],
      "tool": {
        "driver": {
          "name": "safepoint",
          "fullName": "Safepoint 1.2.3",
          "version": "1.2.3",
          "semanticVersion": "1.2.3",
          "informationUri": "urn:safepoint:tool",
          "rules": RULES
        }
      },
      "automationDetails": {
        "id": "safepoint/validate/"
      },
      "columnKind": "unicodeCodePoints",
      "originalUriBaseIds": {
        "%SRCROOT%": {
          "uri": "file:///home/me/my%20project/",
          "description": {
            "text": "The top of the repository, or the folder in which the check was started."
          }
        }
      },
      "properties": {
        "summary": {
          "files": 2,
          "runs": 1,
          "records": 5,
          "documents": 0,
          "faulty": 0,
          "findings": {
            "error": 1,
            "warning": 0,
            "info": 0
          },
          "codes": {
            "SP207": 1
          },
          "suppressed": {},
          "skipped": [
            {
              "code": "SP303",
              "reason": "a record before it is missing",
              "runs": 1
            }
          ],
          "hidden": 0,
          "settings": null
        }
      }
    }
  ]
}
"""


def run_of(*checked: Checked, **members: Any) -> dict[str, Any]:
    log = json.loads(reported("sarif", *checked, **members))
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def artifact(url: str, base: str = "/home/me", here: str = "") -> dict[str, Any]:
    run = run_of(Checked("file", url, url, 1, (replace(TIME, url=url),)), base=base, here=here)
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert isinstance(place, dict)
    return place


def test_a_log_is_one_run_with_its_results_rules_and_invocation() -> None:
    one = replace(RUN, findings=(TIME,), skipped=RUN.skipped[:1])
    said = reported("sarif", one, base="/home/me/my project", status=lambda: 1)
    rules = json.loads(said)["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["SP207"]
    listed = json.dumps(rules, indent=2, ensure_ascii=False).replace("\n", "\n" + " " * 10)
    assert said == WHOLE.replace("RULES", listed)


def test_a_rule_explains_itself_in_text_and_markdown() -> None:
    (rule,) = run_of(LOOSE)["tool"]["driver"]["rules"]
    code = catalogue.code("SP504")
    assert rule["name"] == "ApprovalWithoutExpiry"
    assert rule["shortDescription"] == {"text": code.summary}
    assert rule["fullDescription"] == {"text": code.text}
    assert rule["help"]["text"] == f"{code.text}\n\nSPEC.md#{code.section}"
    assert rule["help"]["markdown"].startswith(f"{code.summary}\n\n**Why:** ")
    assert "\n\n**Fix:** " in rule["help"]["markdown"]
    assert rule["help"]["markdown"].endswith(f"\n\n`SPEC.md#{code.section}`")
    assert rule["defaultConfiguration"] == {"level": "warning"}
    assert rule["properties"]["problem.severity"] == "warning"


def test_each_result_points_to_its_rule() -> None:
    run = run_of(RUN, LOOSE, NOWHERE, HOSTILE)
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [ids[result["ruleIndex"]] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]


def test_rules_that_were_not_checked_for_one_reason_are_one_notification() -> None:
    skipped = [{"code": f"SP3{n:02}", "reason": "why", "runs": n} for n in (3, 1, 2)]
    skipped.append({"code": "SP401", "reason": "because", "runs": 9})
    run = run_of(summary=lambda: summary(skipped=skipped))
    said = [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert said == [
        "Not checked in 9 runs: SP401; because.",
        "Not checked in up to 3 runs: SP301, SP302, SP303; why.",
    ]


def test_the_level_of_an_info_is_note() -> None:
    mild = replace(TIME, severity="info")
    assert run_of(replace(RUN, findings=(mild,)))["results"][0]["level"] == "note"


def test_a_finding_without_a_file_is_placed_at_the_folder_of_the_check() -> None:
    run = run_of(NOWHERE, evaluated=lambda: False, status=lambda: 3)
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "./", "uriBaseId": "%SRCROOT%"}
    assert "logicalLocations" not in run["results"][0]["locations"][0]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["exitCode"] == 3


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("a b/c#d.json", {"uri": "a%20b/c%23d.json", "uriBaseId": "%SRCROOT%"}),
        ("a:b.json", {"uri": "a%3Ab.json", "uriBaseId": "%SRCROOT%"}),
        ("/home/me/a.json", {"uri": "a.json", "uriBaseId": "%SRCROOT%"}),
        ("/etc/a.json", {"uri": "file:///etc/a.json"}),
        ("../a.json", {"uri": "file:///home/a.json"}),
        ("s3://bucket/a b.json", {"uri": "s3://bucket/a%20b.json"}),
        ("-", {"uri": "stdin", "description": {"text": "Standard input."}}),
    ],
)
def test_files_are_uris_relative_to_the_folder_or_absolute(url: str, place: dict[str, Any]) -> None:
    assert artifact(url) == place


def test_a_check_in_a_subfolder_names_files_from_the_top_of_the_repository() -> None:
    places = {
        "a.json": {"uri": "sub/a.json", "uriBaseId": "%SRCROOT%"},
        "../b.json": {"uri": "b.json", "uriBaseId": "%SRCROOT%"},
        "../../c.json": {"uri": "file:///home/c.json"},
        "/home/me/d.json": {"uri": "d.json", "uriBaseId": "%SRCROOT%"},
    }
    assert {url: artifact(url, here="/home/me/sub") for url in places} == places


def test_where_the_folder_is_need_not_be_said() -> None:
    assert artifact("a.json", base="") == {"uri": "a.json", "uriBaseId": "%SRCROOT%"}
    root = run_of(LOOSE)["originalUriBaseIds"]["%SRCROOT%"]
    assert root.keys() == {"description"}


def test_a_message_is_a_sentence_without_links_and_control_characters() -> None:
    text = run_of(HOSTILE)["results"][0]["message"]["text"]
    assert text.isprintable()
    assert text.endswith(", and \\[a link](https://example.org).")


def test_the_fingerprint_survives_moved_lines_and_new_words() -> None:
    moved = replace(TIME, line=99, column=1, message="in other words", excerpt=None)
    run = run_of(replace(RUN, findings=(TIME, moved, replace(TIME, pointer="/x"))))
    first, second, third = (result["partialFingerprints"]["safepoint/v1"] for result in run["results"])
    assert first == second != third


def test_equal_findings_give_equal_bytes_whenever_they_are_found() -> None:
    said = {reported("sarif", RUN, LOOSE, seconds=lambda took=took: took) for took in (1.0, 2.0)}
    assert len(said) == 1


def test_limits_leave_results_out_and_say_how_many() -> None:
    run = run_of(RUN, LOOSE, most=1)
    assert len(run["results"]) == 1
    assert run["properties"]["summary"]["hidden"] == 2


def test_a_clean_check_has_an_empty_list_of_results() -> None:
    assert run_of(CLEAN)["results"] == []


def test_results_come_while_it_is_still_being_checked() -> None:
    def checked() -> Iterator[Checked]:
        yield RUN
        raise AssertionError("asked too early")

    said = ""
    pieces = sarif_report(checked(), context())
    while "SP503" not in said:
        said += next(pieces)
