// Runs inside the environment of a peer, with Node: the worker (`work`) or the producer (`produce`). See serving.py, whose
// marks and requests these are.
"use strict";
const fs = require("node:fs");
const readline = require("node:readline");
const { Queue, Worker } = require("bullmq");

const url = new URL(process.env.BENCHMARK_URL ?? "redis://localhost");
const connection = {
  host: url.hostname,
  port: Number(url.port || 6379),
  db: Number(url.pathname.slice(1) || 0),
  maxRetriesPerRequest: null,
};
const SECONDS = Number(process.env.BENCHMARK_SECONDS ?? 0);
const HOLD = process.env.BENCHMARK_HOLD;
const MARKS = process.env.BENCHMARK_MARKS;

const sleep = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const told = (due) => (due === null ? "None" : due);

function work() {
  const marks = fs.openSync(MARKS, "a");
  const ends = SECONDS || HOLD ? fs.openSync(`${MARKS}.ends`, "a") : null;
  const concurrency = Number(process.env.BENCHMARK_SLOTS ?? 1);
  const worker = new Worker(
    "benchmark",
    async (job) => {
      const now = Math.trunc((performance.timeOrigin + performance.now()) * 1000);
      fs.writeSync(marks, `${job.data.number} ${told(job.data.due_ms)} ${now}\n`);
      if (ends === null) return;
      await sleep(SECONDS);
      while (HOLD && fs.existsSync(HOLD)) await sleep(0.05);
      fs.writeSync(ends, `${job.data.number} ${job.attemptsMade + 1}\n`);
    },
    { connection, concurrency },
  );
  worker.on("error", (error) => console.error(error));
  process.once("SIGTERM", async () => {
    await worker.close();
    process.exit(0);
  });
}

async function produce() {
  const queue = new Queue("benchmark", { connection });
  const made = ([number, due_ms]) => ({
    name: "handle",
    data: { number, due_ms },
    opts: due_ms === null ? {} : { delay: Math.max(0, due_ms - Date.now()) },
  });
  const operations = {
    async enqueue(jobs) {
      for (const job of jobs) {
        const { name, data, opts } = made(job);
        await queue.add(name, data, opts);
      }
    },
    async enqueue_all(jobs) {
      for (let first = 0; first < jobs.length; first += 1000) {
        await queue.addBulk(jobs.slice(first, first + 1000).map(made));
      }
    },
  };
  await queue.waitUntilReady();
  const version = (name) => require(`${process.env.NODE_PATH}/${name}/package.json`).version;
  const answer = (found) => process.stdout.write(`${JSON.stringify(found)}\n`);
  answer({ versions: { bullmq: version("bullmq"), node: process.versions.node } });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { op, argument } = JSON.parse(line);
    const began = performance.now();
    await operations[op](argument);
    answer({ seconds: (performance.now() - began) / 1000 });
  }
  await queue.close();
}

if (process.argv[2] === "work") work();
else if (process.argv[2] === "produce") produce();
