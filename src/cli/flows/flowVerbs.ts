import { Argument } from 'commander';
import { defineGroup, defineVerb } from '../command/verb.ts';
import { jsonFlag, requiredTextFlag, switchFlag, textFlagOr } from '../command/flags.ts';
import { environmentFlag, FLOW_EVAL_FLAGS, FLOW_GRAPH_FLAGS, FLOW_RUN_FLAGS } from './flowFlags.ts';

export const flowVerb = defineGroup(
  {
    name: 'flow',
    summary: 'run, check, draw and test flow files',
    examples: [
      ['farwharf flow run agent.ts', 'run a flow file'],
      ['farwharf flow help run', 'explain one of its commands'],
    ],
  },
  [
    defineVerb({
      name: 'run',
      summary: 'run a flow file on this machine and record the run',
      args: [
        new Argument('<file>', 'flow file: .ts, .mts, .js or .mjs'),
        new Argument('[args...]', 'arguments for process.argv of the file; put flags after --'),
      ],
      flags: FLOW_RUN_FLAGS,
      examples: [
        ['farwharf flow run agent.ts --shared \'{"question": "Why?"}\'', 'run a flow with an initial state'],
        ['farwharf flow run agent.ts --replay last', 'run the flow again; only edited nodes run live'],
        ['farwharf flow run agent.ts --node Write', 'run one node again, and compare what it does with the last run'],
      ],
      load: async () => (await import('./flowRun.ts')).runFlowLocally,
    }),
    defineVerb({
      name: 'runs',
      summary: 'list the recorded runs of a flow file',
      args: ['<file>'],
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf flow runs agent.ts', 'list the recorded runs of a file'],
        ['farwharf flow runs agent.ts --json', 'list them for a program'],
      ],
      load: async () => (await import('./flowRun.ts')).listFlowRuns,
    }),
    defineVerb({
      name: 'answer',
      summary: 'continue a run that waits for an answer',
      args: ['<run>'],
      flags: {
        input: requiredTextFlag('--input <json>', 'the answer, as JSON'),
        env: environmentFlag(),
        json: jsonFlag('print one JSON line per event'),
      },
      examples: [
        ['farwharf flow answer last --input \'"yes"\'', 'answer the question of the newest run that waits'],
        ['farwharf flow answer 20260102 --input \'"yes"\'', 'answer the question of a run'],
      ],
      load: async () => (await import('./flowRun.ts')).answerFlow,
    }),
    defineVerb({
      name: 'pin',
      summary: 'save a run of a flow file as a test next to the file',
      args: ['<file>'],
      flags: {
        run: textFlagOr('--run <run>', 'run ID', 'last'),
        name: textFlagOr('--name <name>', 'name of the test', 'run'),
        env: environmentFlag(),
        json: jsonFlag(),
      },
      examples: [
        ['farwharf flow pin agent.ts', 'save the last run as a test'],
        ['farwharf flow pin agent.ts --run 20260102 --name refusal', 'save another run as a test named refusal'],
      ],
      load: async () => (await import('./flowTest.ts')).pinFlow,
    }),
    defineVerb({
      name: 'test',
      summary: 'run saved tests without network access',
      args: [new Argument('[paths...]', 'tests, flow files, or folders with tests (default: the current folder)')],
      flags: {
        update: switchFlag('--update', 'run edited nodes live and accept the changes'),
        env: environmentFlag(),
        json: jsonFlag('print one JSON line per test'),
      },
      examples: [
        ['farwharf flow test', 'run all tests below the current folder'],
        ['farwharf flow test agent.ts', 'run the tests of one flow file'],
        ['farwharf flow test agent.refusal.flowtest.json --update', 'run edited nodes live and accept their results'],
      ],
      load: async () => (await import('./flowTest.ts')).testFlows,
    }),
    defineVerb({
      name: 'eval',
      summary: 'run a flow file with each case of a data set and score the results',
      args: ['<file>'],
      flags: FLOW_EVAL_FLAGS,
      examples: [
        ['farwharf flow eval agent.ts --data agent.cases.jsonl', 'print a table of cases and scores'],
        [
          'farwharf flow eval agent.ts --data agent.cases.csv --min 90 --json',
          'check in CI that nine of ten cases pass',
        ],
      ],
      load: async () => (await import('./flowEval.ts')).evalFlow,
    }),
    defineVerb({
      name: 'graph',
      summary: 'print the graph of a flow file without running it',
      args: ['<file>'],
      flags: FLOW_GRAPH_FLAGS,
      examples: [
        ['farwharf flow graph agent.ts', 'print the graph as Mermaid'],
        ['farwharf flow graph agent.ts --format svg > agent.svg', 'draw it as a picture'],
      ],
      load: async () => (await import('./flowGraph.ts')).printFlowGraph,
    }),
    defineVerb({
      name: 'types',
      summary: 'write the types of farwharf/agents into a folder, for editors and tsc',
      args: [new Argument('[folder]', 'folder (default: the current one)')],
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf flow types', 'write the types into node_modules/farwharf'],
        ['farwharf flow types agents', 'do the same for another folder'],
      ],
      load: async () => (await import('./flowTypes.ts')).writeFlowTypes,
    }),
    defineVerb({
      name: 'check',
      summary: 'list the problems in flow files without running them (exit status 1 for errors)',
      args: [new Argument('<files...>', 'flow files')],
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf flow check agent.ts', 'list the problems of a file'],
        ['farwharf flow check agent.ts --json', 'list them for a program'],
      ],
      load: async () => (await import('./flowCheck.ts')).checkFlows,
    }),
    defineVerb({
      name: 'migrate',
      summary: 'rewrite files that use PocketFlow for farwharf/agents; prints the changes',
      args: [new Argument('<files...>', 'files that import pocketflow')],
      flags: { write: switchFlag('--write', 'write the changes into the files'), json: jsonFlag() },
      examples: [
        ['farwharf flow migrate agent.ts nodes.ts', 'print the changes as a patch, and what is left to do by hand'],
        ['farwharf flow migrate agent.ts --write', 'change the file'],
      ],
      load: async () => (await import('./flowMigrate.ts')).migrateFlows,
    }),
  ],
);
