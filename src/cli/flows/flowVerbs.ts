import { Argument } from 'commander';
import { defineGroup, defineVerb, type Verb } from '../command/verb.ts';
import { choiceFlag, jsonFlag, switchFlag, textFlag, textFlagOr } from '../grammar/flags.ts';
import { environmentFlag } from './environmentFlag.ts';

/** `farwharf flow` and its verbs. */
export function flowVerb(): Verb {
  return defineGroup(
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
        flags: {
          shared: textFlag('--shared <json>', 'initial shared state, as JSON or @FILE'),
          flow: textFlag('--flow <name>', 'export to run, if the file has several flows'),
          trace: textFlag('--trace <file>', 'write the events of the run to this file, one JSON object on each line'),
          replay: textFlag(
            '--replay <run>',
            'reuse the results of this run (a run ID, or last) where code and input are the same',
          ),
          from: textFlag('--from <node>', 'start at this node, with its state from the last run'),
          of: textFlag('--of <run>', 'the run that --from refers to (default: last)'),
          env: environmentFlag(),
          json: jsonFlag('print one JSON line per event'),
        },
        examples: [
          ['farwharf flow run agent.ts --shared \'{"question": "Why?"}\'', 'run a flow with an initial state'],
          ['farwharf flow run agent.ts --replay last', 'run the flow again; only edited nodes run anew'],
        ],
        load: async () => (await import('./flowRun.ts')).runFlowFile,
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
        load: async () => (await import('./flowRuns.ts')).listFlowRuns,
      }),
      defineVerb({
        name: 'pin',
        summary: 'save a run of a flow file as a test next to the file',
        args: ['<file>'],
        flags: {
          run: textFlagOr('--run <run>', 'run ID (default: the last run)', 'last'),
          name: textFlagOr('--name <name>', 'name of the test', 'run'),
          env: environmentFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf flow pin agent.ts', 'save the last run as a test'],
          ['farwharf flow pin agent.ts --run 20260102 --name refusal', 'save another run as a test named refusal'],
        ],
        load: async () => (await import('./flowPin.ts')).pinFlow,
      }),
      defineVerb({
        name: 'test',
        summary: 'run saved tests without network access',
        args: [new Argument('[paths...]', 'tests, or folders with tests (default: the current folder)')],
        flags: {
          update: switchFlag('--update', 'run edited nodes live and accept the changes'),
          env: environmentFlag(),
          json: jsonFlag('print one JSON line per test'),
        },
        examples: [
          ['farwharf flow test', 'run all tests below the current folder'],
          ['farwharf flow test agent.refusal.flowtest.json --update', 'run edited nodes live and accept their results'],
        ],
        load: async () => (await import('./flowTest.ts')).testFlows,
      }),
      defineVerb({
        name: 'graph',
        summary: 'print the graph of a flow file without running it',
        args: ['<file>'],
        flags: {
          format: choiceFlag('--format <kind>', 'output format (default: mermaid)', ['json', 'mermaid', 'svg']),
          flow: textFlag('--flow <name>', 'the flow to print, if the file has several'),
          run: switchFlag('--run', 'also load the file, for what its source does not show; no flow is run'),
          env: environmentFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf flow graph agent.ts', 'print the graph as Mermaid'],
          ['farwharf flow graph agent.ts --format svg > agent.svg', 'draw it as a picture'],
        ],
        load: async () => (await import('./flowGraph.ts')).printFlowGraph,
      }),
      defineVerb({
        name: 'check',
        summary: 'list the problems in a flow file without running it (exit status 1 for errors)',
        args: ['<file>'],
        flags: { json: jsonFlag() },
        examples: [
          ['farwharf flow check agent.ts', 'list the problems of a file'],
          ['farwharf flow check agent.ts --json', 'list them for a program'],
        ],
        load: async () => (await import('./flowCheck.ts')).checkFlow,
      }),
    ],
  );
}
