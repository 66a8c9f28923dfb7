import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TraceEvent } from '../../../../../src/agents/records/trace.ts';
import { readTrace } from '../../../../../src/flows/run/history/tracedFlows.ts';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/traces');
const read = (name: string) => readTrace(name, readFileSync(join(FIXTURES, name), 'utf8'));
const short = (event: TraceEvent): string =>
  [event.type, event.path, event.visit, 'action' in event ? event.action : ''].filter(Boolean).join(' ');

const span = (id: string, parent: string, name: string, start = 0, end = 1): object => ({
  traceId: 't',
  spanId: id,
  parentSpanId: parent,
  name,
  startTimeUnixNano: String(start),
  endTimeUnixNano: String(end),
});
const operation = (name: string): object => ({ key: 'gen_ai.operation.name', value: { stringValue: name } });
const request = (...spans: readonly object[]): string =>
  JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

test('a graph as LangGraph exports it is a run with its visits, model calls, tools and the way it took', () => {
  const { file, runs } = read('langgraph.otlp.json');
  const [flow] = file.flows;
  assert.deepEqual(
    flow?.nodes.map(({ id }) => id),
    ['agent', 'tools'],
  );
  assert.deepEqual(
    flow?.edges.map(({ source, target }) => `${source} ${target}`),
    ['agent tools', 'tools agent', 'agent null'],
  );
  const [run] = runs;
  assert.deepEqual(run?.events.map(short), [
    'flow-start LangGraph 1',
    'node-start LangGraph/agent 1',
    'model LangGraph/agent 1',
    'node-end LangGraph/agent 1 tools',
    'edge LangGraph/agent 1 tools',
    'node-start LangGraph/tools 1',
    'tool LangGraph/tools 1',
    'node-end LangGraph/tools 1 agent',
    'edge LangGraph/tools 1 agent',
    'node-start LangGraph/agent 2',
    'model LangGraph/agent 2',
    'node-end LangGraph/agent 2 end',
    'edge LangGraph/agent 2 end',
    'flow-end LangGraph 1',
  ]);
  const model = run?.events.find((event) => event.type === 'model');
  assert.deepEqual([model?.model, model?.inputTokens, model?.outputTokens], ['gpt-4o-mini', 420, 31]);
  const attributes: unknown = JSON.parse(run?.attributes['1 LangGraph/tools'] ?? '');
  assert.deepEqual(attributes, {
    'langgraph.node': 'tools',
    'langgraph.step': 2,
    calls: [
      {
        name: 'execute_tool search_harbours',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'search_harbours',
        'gen_ai.tool.type': 'function',
      },
    ],
  });
});

test('agents as the OpenAI Agents SDK exports them are nodes, and what failed has its reason', () => {
  const { runs } = read('openaiAgents.otlp.jsonl');
  const [run] = runs;
  assert.deepEqual(run?.events.filter(({ type }) => type !== 'model').map(short), [
    'flow-start Agent workflow 1',
    'node-start Agent workflow/invoke_agent Triage 1',
    'node-end Agent workflow/invoke_agent Triage 1 invoke_agent Refunds',
    'edge Agent workflow/invoke_agent Triage 1 invoke_agent Refunds',
    'node-start Agent workflow/invoke_agent Refunds 1',
    'tool Agent workflow/invoke_agent Refunds 1',
    'error Agent workflow/invoke_agent Refunds 1',
    'flow-end Agent workflow 1',
  ]);
  assert.equal(run?.durationMs, 3_000);
});

test('steps inside of steps are nested flows, and steps beside each other are not connected', () => {
  const text = request(
    span('1', '', 'root', 0, 100),
    span('2', '1', 'plan', 0, 50),
    span('3', '2', 'a/b', 0, 20),
    span('4', '2', 'c', 10, 30),
    span('5', '1', 'write', 60, 90),
  );
  const { flows } = readTrace('t', text).file;
  assert.deepEqual(
    flows.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.id).join(' ')}`),
    ['root: plan write', 'root/plan: a∕b c'],
  );
  assert.deepEqual(
    flows[1]?.edges.map(({ source, target }) => `${source} ${target}`),
    ['c null'],
  );
});

test('an agent that a tool runs is a step inside of the one that calls the tool', () => {
  const called = { ...span('2', '1', 'tool', 1, 9), attributes: [operation('execute_tool')] };
  const model = { ...span('5', '3', 'chat', 5, 6), attributes: [operation('chat')] };
  const inner = [span('3', '2', 'inner', 2, 8), model];
  const { file, runs } = readTrace(
    't',
    request(span('0', '', 'root', 0, 10), span('1', '0', 'outer', 0, 10), called, ...inner),
  );
  assert.deepEqual(
    file.flows.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.id).join(' ')}`),
    ['root: outer', 'root/outer: inner'],
  );
  assert.deepEqual(
    runs[0]?.events.flatMap(({ type, path }) => (type === 'tool' || type === 'model' ? [`${type} ${path}`] : [])),
    ['model root/outer/inner', 'tool root/outer'],
  );
});

test('a connection leads to the next step that began later, whatever the names are', () => {
  const steps = [
    span('1', '0', 'a:b', 0, 10),
    span('2', '0', 'beside', 5, 12),
    span('3', '0', 'c', 10, 10),
    span('4', '0', 'a', 20, 30),
    span('5', '0', 'b:c', 30, 40),
  ];
  const [flow] = readTrace('t', request(span('0', '', 'root', 0, 40), ...steps)).file.flows;
  assert.deepEqual(
    flow?.edges.map(({ source, target }) => `${source} ${target}`),
    ['a:b c', 'beside a', 'c a', 'a b:c', 'b:c null'],
  );
});

test('hostile traces are bounded and cleaned, and what is no trace is refused', () => {
  const name = `\u001b[31mred\u202e${'x'.repeat(5_000)}`;
  const text = request(
    span('1', '1', 'own parent'),
    span('2', '', name),
    span('2', '', name),
    span('3', '2', '__proto__'),
  );
  const [flow, ...others] = readTrace('t', text).file.flows;
  assert.deepEqual(others, []);
  assert.deepEqual(
    flow?.nodes.map(({ id }) => id),
    ['__proto__'],
  );
  assert.match(flow?.id ?? '', /^redx{10,117}$/);
  const many = Array.from({ length: 20_001 }, (_, index) => span(String(index), '', 'x'));
  assert.throws(() => readTrace('t', request(...many)), /more than 20000 spans/);
  const kinds = Array.from({ length: 2_002 }, (_, index) => span(String(index), index === 0 ? '' : '0', `n${index}`));
  assert.throws(() => readTrace('t', request(...kinds)), /more than 2000 different steps/);
  const circle = request(span('1', '2', 'a'), span('2', '1', 'b'));
  assert.throws(() => readTrace('t', circle), /Each span of the trace is below another one/);
  const noSpan = '{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":5}]}]}]}';
  for (const wrong of ['', '{}', '[1]', 'not json', noSpan, '['.repeat(100_000)]) {
    assert.throws(() => readTrace('t', wrong), /no spans/);
  }
});

test('of a trace with very many runs the first are read, and the number of the others is known', () => {
  const spans = Array.from({ length: 450 }, (_, index) => span(`s${index}`, '', 'Run', index, index + 1));
  const { runs, omittedRuns } = readTrace('many.json', request(...spans));
  assert.deepEqual([runs.length, omittedRuns], [200, 250]);
  assert.equal(readTrace('one.json', request(span('a', '', 'Run'))).omittedRuns, 0);
});
