// A conversation of the TypeScript SDK's client with a server; what came of it goes to stdout as JSON.
// Its one argument is JSON: `modules` (where the SDKs are), `sdk` (1 or 2) and `mode`; `url`, or `command`, `args`,
// `env` and `cwd`; the `calls` to make, the `wrong` ones, and the folder of the `documents`.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const given = JSON.parse(process.argv[2]);
const load = createRequire(join(given.modules, "package.json"));
const isFirst = given.sdk === 1; // the SDK in one package, which speaks the older revisions alone
const PATIENCE = { timeout: 60_000 };

const told = { progress: [], questions: [], errors: [] };
let answers = [];

function makeClient() {
  const capabilities = { elicitation: {} };
  const onChanged = () => told.changed?.();
  if (isFirst) {
    const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
    const types = load("@modelcontextprotocol/sdk/types.js");
    const client = new Client({ name: "foreign", version: "1" }, { capabilities });
    client.setRequestHandler(types.ElicitRequestSchema, answer);
    client.setNotificationHandler(types.ResourceListChangedNotificationSchema, onChanged);
    return client;
  }
  const { Client } = load("@modelcontextprotocol/client");
  const listChanged = { resources: { autoRefresh: false, debounceMs: 0, onChanged } };
  const versionNegotiation = { mode: given.mode };
  const client = new Client({ name: "foreign", version: "2" }, { capabilities, versionNegotiation, listChanged });
  client.setRequestHandler("elicitation/create", answer);
  return client;
}

function makeTransport() {
  if (given.url) {
    const at = isFirst ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client";
    return new (load(at).StreamableHTTPClientTransport)(new URL(given.url));
  }
  const at = isFirst ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio";
  const { command, args, env, cwd } = given;
  return new (load(at).StdioClientTransport)({ command, args, env, cwd, stderr: "inherit" });
}

async function answer(request) {
  told.questions.push(request.params.message);
  const action = answers.shift();
  return action === "accept" ? { action, content: {} } : { action };
}

// A call that finds the index busy is repeated, as the reply says. Structured content is held against the tool's output schema by the SDK, which throws when it does not fit.
async function call(name, args, options = {}) {
  const deadline = Date.now() + 60_000;
  let reply = await callOnce(name, args, options);
  while (reply.content?.code === "INDEX_BUSY" && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    reply = await callOnce(name, args, options);
  }
  return reply;
}

async function callOnce(name, args, options) {
  const parameters = { name, arguments: args };
  const chosen = { ...PATIENCE, ...options };
  const result = isFirst ? await client.callTool(parameters, undefined, chosen) : await client.callTool(parameters, chosen);
  return { isError: result.isError ?? false, content: result.structuredContent, text: result.content[0]?.text };
}

async function allPages(method, key) {
  const items = [];
  let cursor;
  do {
    const page = await client[method]({ ...(cursor ? { cursor } : {}) }, PATIENCE);
    items.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor);
  return items;
}

async function failure(promise) {
  try {
    return { result: await promise };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

// Both answers to a question: no, then yes.
async function asked(name, args) {
  answers = ["decline", "accept"];
  return [await call(name, args), await call(name, args)];
}

// Whether the news that the list changed comes after a file was written, and what the list says then.
async function hearOfNewDocument() {
  const heard = new Promise((resolve) => (told.changed = () => resolve(true)));
  writeFileSync(join(given.documents, "new.md"), "# New\n\nJust written.\n");
  const late = new Promise((resolve) => setTimeout(resolve, 30_000, false).unref());
  const isHeard = await Promise.race([heard, late]);
  return { isHeard, uris: (await allPages("listResources", "resources")).map((one) => one.uri) };
}

const client = makeClient();
client.onerror = (error) => told.errors.push(String(error));
const transport = makeTransport();
await client.connect(transport, PATIENCE);
told.revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
told.capabilities = client.getServerCapabilities();
told.server = client.getServerVersion();
told.instructions = client.getInstructions();
told.pid = transport.pid ?? null;
told.tools = await allPages("listTools", "tools"); // the SDK remembers the output schemas

told.before = await call("search_code", { query: "apple", project: "fruit" });
const onprogress = (progress) => told.progress.push(progress);
answers = ["decline", "accept"];
told.create = [
  await call("create_index", { project: "fruit" }),
  await call("create_index", { project: "fruit" }, { onprogress }),
];

told.calls = {};
for (const [name, args] of given.calls) told.calls[name] = await call(name, args);
told.wrong = {};
for (const [title, name, args] of given.wrong) told.wrong[title] = await failure(call(name, args));

told.resources = await allPages("listResources", "resources");
told.read = [];
for (const { uri } of told.resources) told.read.push(...(await client.readResource({ uri }, PATIENCE)).contents);
told.missing = await failure(client.readResource({ uri: "docs://fruit/nothing.md" }, PATIENCE));
told.fresh = await hearOfNewDocument();

const hangUp = new AbortController();
answers = ["accept"];
told.cancelled = await failure(
  call("create_index", { project: "orchard" }, {
    signal: hangUp.signal,
    onprogress: ({ total }) => total && hangUp.abort("enough"), // the server has begun: it knows how many there are
  }),
);
told.afterwards = await call("get_index_status", { project: "fruit" });
told.reindex = await asked("reindex_project", { project: "fruit" });
told.delete = await asked("delete_index", { project: "fruit" });

await client.close();
console.log(JSON.stringify(told));
