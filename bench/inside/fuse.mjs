// Reads an index and asks Fuse.js with the specification's weights; what it took goes to stdout as JSON.
import { readFileSync } from "node:fs";

const [, , module, file] = process.argv;
const { default: Fuse } = await import(module);
const queries = JSON.parse(readFileSync(0, "utf8"));
const started = performance.now();
const { pages } = JSON.parse(readFileSync(file, "utf8"));
const weights = { body: 0.35, title: 0.3, abstract: 0.2, topics: 0.15 };
const keys = Object.entries(weights).map(([name, weight]) => ({ name, weight }));
const fuse = new Fuse(pages, { keys, threshold: 0.4, ignoreLocation: true });
const ready = performance.now() - started;
const answers = queries.map((query) => {
  const began = performance.now();
  const urls = fuse.search(query, { limit: 10 }).map((hit) => hit.item.url);
  return { ms: performance.now() - began, urls };
});
console.log(JSON.stringify({ ready, answers, bytes: process.memoryUsage().rss }));
