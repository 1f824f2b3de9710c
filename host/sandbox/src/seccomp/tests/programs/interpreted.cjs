// What a module in JavaScript does. Prints "done" where all of it works. argv[2] is a folder to write in.
const assert = require("node:assert");
const { execFileSync, spawn } = require("node:child_process");
const crypto = require("node:crypto");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { promisify } = require("node:util");
const { Worker } = require("node:worker_threads");

async function main() {
  const folder = fs.mkdtempSync(path.join(process.argv[2], "js-"));
  const file = path.join(folder, "file");
  fs.writeFileSync(file, "text");
  await fs.promises.appendFile(file, "more");
  await fs.promises.copyFile(file, file + "2");
  fs.renameSync(file, file + "3");
  fs.chmodSync(file + "3", 0o600);
  fs.utimesSync(file + "3", 1, 2);
  assert.equal(await fs.promises.readFile(file + "3", "utf8"), "textmore");
  assert.deepEqual((await fs.promises.readdir(folder)).sort(), ["file2", "file3"]);
  for await (const chunk of fs.createReadStream(file + "2")) assert.equal(chunk.length, 8);
  fs.rmSync(folder, { recursive: true });

  // Long enough for the optimising compiler.
  let sum = 0;
  for (let i = 0; i < 3e6; i++) sum = (sum + i * 7) % 1000003;
  assert(sum >= 0);
  const module = new WebAssembly.Module(Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0]));
  assert(new WebAssembly.Instance(module));

  assert.equal(execFileSync("sh", ["-c", "read l; echo $l"], { input: "in\n" }).toString(), "in\n");
  const child = spawn("sh", ["-c", "echo out; exit 3"], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (data) => (out += data));
  assert.equal(await new Promise((resolve) => child.on("close", resolve)), 3);
  assert.equal(out, "out\n");

  const worker = new Worker("require('node:worker_threads').parentPort.postMessage(6 * 7)", { eval: true });
  assert.equal(await new Promise((resolve) => worker.on("message", resolve)), 42);
  await new Promise((resolve) => setTimeout(resolve, 1));
  await new Promise((resolve) => setImmediate(resolve));
  const keys = await Promise.all([1, 2, 3, 4].map(() => promisify(crypto.pbkdf2)("a", "b", 10, 16, "sha256")));
  assert.equal(keys.length, 4);
  assert.equal(crypto.randomBytes(8).length, 8);
  assert(os.totalmem() > 0 && os.cpus().length >= 0 && process.memoryUsage().rss > 0);
  // A signal handler does not keep Node running, a timer does.
  const alive = setInterval(() => {}, 1000);
  const got = new Promise((resolve) => process.once("SIGUSR2", resolve));
  process.kill(process.pid, "SIGUSR2");
  await got;
  clearInterval(alive);
  console.log("done");
}

main();
