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
        summary: 'run a flow file here, and keep the run in its history',
        args: [
          new Argument('<file>', 'flow file: .ts, .mts, .js or .mjs'),
          new Argument('[args...]', 'what the file finds in process.argv; flags after --'),
        ],
        flags: {
          shared: textFlag('--shared <json>', 'shared state to begin with, as JSON or @FILE'),
          flow: textFlag('--flow <name>', 'export to run, where the file has several flows'),
          trace: textFlag('--trace <file>', 'write the events of the run to this file, one JSON object on each line'),
          replay: textFlag(
            '--replay <run>',
            'use the results of this run (an id, or last) where code and input are the same',
          ),
          from: textFlag('--from <node>', 'begin at this node, with the state that it had in the last run'),
          of: textFlag('--of <run>', 'the run that --from means (default: last)'),
          env: environmentFlag(),
          json: jsonFlag('print JSON, a line for each event'),
        },
        examples: [
          ['farwharf flow run agent.ts --shared \'{"question": "Why?"}\'', 'run a flow with a state to begin with'],
          ['farwharf flow run agent.ts --replay last', 'run it again; only nodes that were edited run anew'],
        ],
        load: async () => (await import('./flowRun.ts')).runFlowFile,
      }),
      defineVerb({
        name: 'runs',
        summary: 'list the runs of a flow file that are kept',
        args: ['<file>'],
        flags: {
          json: jsonFlag(),
        },
        examples: [
          ['farwharf flow runs agent.ts', 'list the recorded runs of a file'],
          ['farwharf flow runs agent.ts --json', 'list them for a program'],
        ],
        load: async () => (await import('./flowRuns.ts')).listFlowRuns,
      }),
      defineVerb({
        name: 'pin',
        summary: 'pin a run of a flow file as a test, which lies beside it',
        args: ['<file>'],
        flags: {
          run: textFlagOr('--run <run>', 'the run (default: the last)', 'last'),
          name: textFlagOr('--name <name>', 'name of the test', 'run'),
          env: environmentFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf flow pin agent.ts', 'make a test of the last run'],
          ['farwharf flow pin agent.ts --run 20260102 --name refusal', 'make a test named refusal of another run'],
        ],
        load: async () => (await import('./flowPin.ts')).pinFlow,
      }),
      defineVerb({
        name: 'test',
        summary: 'run pinned tests without network',
        args: [new Argument('[paths...]', 'tests, or folders to look for them (default: the current one)')],
        flags: {
          update: switchFlag('--update', 'run what was edited live, and accept what changed'),
          env: environmentFlag(),
          json: jsonFlag('print JSON, a line for each test'),
        },
        examples: [
          ['farwharf flow test', 'run all tests below the current folder'],
          [
            'farwharf flow test agent.refusal.flowtest.json --update',
            'run edited nodes live, and accept their results',
          ],
        ],
        load: async () => (await import('./flowTest.ts')).testFlows,
      }),
      defineVerb({
        name: 'graph',
        summary: 'print the graph of a flow file, without running it',
        args: ['<file>'],
        flags: {
          format: choiceFlag('--format <kind>', 'as what (default: mermaid)', ['json', 'mermaid', 'svg']),
          flow: textFlag('--flow <name>', 'the flow, where the file has several'),
          run: switchFlag('--run', 'load the file too, for what its source does not tell; no flow is run'),
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
        summary: 'tell what is wrong in a flow file, without running it; exit status 1 for errors',
        args: ['<file>'],
        flags: {
          json: jsonFlag(),
        },
        examples: [
          ['farwharf flow check agent.ts', 'list the problems of a file'],
          ['farwharf flow check agent.ts --json', 'list them for a program'],
        ],
        load: async () => (await import('./flowCheck.ts')).checkFlow,
      }),
    ],
  );
}
