// A Safepoint journal written without any library: node append.mjs STORE RUN
//
// Each record is an object named by its sequence, written by put-if-absent, and holds the SHA-256 of its predecessor's
// stored bytes. SPEC.md#writer says what else a writer owes; this one never sends anything, so it needs no lease.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

const [store, runId] = process.argv.slice(2);
if (!store || !/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(runId ?? "")) {
  console.error("usage: node append.mjs STORE RUN   (a run id of letters, digits, '.', '_' and '-')");
  process.exit(2);
}
const folder = join(store, "runs", runId, "journal");
const nonce = randomBytes(16).toString("hex");

function sync(path) {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

// A whole file under a temporary name, made durable, then linked: link fails where the name is taken.
function putIfAbsent(name, text) {
  const temporary = join(folder, `.tmp-${nonce}`);
  const file = openSync(temporary, "wx");
  try {
    writeSync(file, text);
    fsyncSync(file);
    linkSync(temporary, join(folder, name));
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    closeSync(file);
    unlinkSync(temporary);
    sync(folder);
  }
}

const nameOf = (sequence) => `${String(sequence).padStart(10, "0")}.json`;

// Reads on to the head, and tries only the number behind the last record that it has read.
function append(members) {
  let sequence = 0;
  let previousDigest = null;
  for (;;) {
    const path = join(folder, nameOf(sequence + 1));
    if (existsSync(path)) {
      const stored = readFileSync(path, "utf8").replace(/\n$/, "");
      previousDigest = "sha256:" + createHash("sha256").update(stored).digest("hex");
      sequence += 1;
      continue;
    }
    const { recordType, leaseEpoch, ...rest } = members;
    const createdAt = new Date().toISOString();
    const head = { recordType, schemaVersion: "v3", runId, sequence: sequence + 1, previousDigest, nonce, leaseEpoch, createdAt };
    if (putIfAbsent(nameOf(sequence + 1), JSON.stringify({ ...head, ...rest }))) return;
  }
}

mkdirSync(folder, { recursive: true });
if (!existsSync(join(folder, nameOf(1)))) {
  append({ recordType: "run", leaseEpoch: 0, status: "started", workflow: "example" });
}
append({
  recordType: "checkpoint",
  leaseEpoch: 1,
  checkpointId: `cp_${nonce.slice(0, 8)}`,
  state: "drafted",
  stepName: "draft",
  nextSteps: ["review"],
  artifactRefs: [],
  sideEffectStatus: { writePerformed: false, externalMessageSent: false },
  lastLedgerSequence: 0,
});
