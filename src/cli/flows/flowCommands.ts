import { type Command, Option } from 'commander';
import type { Runs } from '../command/verb.ts';
import { examples } from '../grammar/examples.ts';
import { environmentOption } from '../grammar/optionValues.ts';

/** Adds `farwharf flow` with its verbs. */
export function addFlowVerbs(program: Command, runs: Runs): Command {
  const flow = program
    .command('flow')
    .description('run, check, draw and test flow files')
    .addHelpText(
      'after',
      examples(
        ['farwharf flow run agent.ts', 'run a flow file'],
        ['farwharf flow help run', 'explain one of its commands'],
      ),
    );
  flow
    .command('run')
    .argument('<file>', 'flow file: .ts, .mts, .js or .mjs')
    .argument('[args...]', 'what the file finds in process.argv; flags after --')
    .description('run a flow file here, and keep the run in its history')
    .option('--shared <json>', 'shared state to begin with, as JSON or @FILE')
    .option('--flow <name>', 'export to run, where the file has several flows')
    .option('--trace <file>', 'write the events of the run to this file, one JSON object on each line')
    .option('--replay <run>', 'use the results of this run (an id, or last) where code and input are the same')
    .option('--from <node>', 'begin at this node, with the state that it had in the last run')
    .option('--of <run>', 'the run that --from means (default: last)')
    .addOption(environmentOption())
    .option('--json', 'print JSON, a line for each event')
    .addHelpText(
      'after',
      examples(
        ['farwharf flow run agent.ts --shared \'{"question": "Why?"}\'', 'run a flow with a state to begin with'],
        ['farwharf flow run agent.ts --replay last', 'run it again; only nodes that were edited run anew'],
      ),
    )
    .action(runs(async () => (await import('./flowRun.ts')).runFlowFile));
  flow
    .command('runs')
    .argument('<file>')
    .description('list the runs of a flow file that are kept')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf flow runs agent.ts', 'list the recorded runs of a file'],
        ['farwharf flow runs agent.ts --json', 'list them for a program'],
      ),
    )
    .action(runs(async () => (await import('./flowRuns.ts')).listFlowRuns));
  flow
    .command('pin')
    .argument('<file>')
    .description('pin a run of a flow file as a test, which lies beside it')
    .option('--run <run>', 'the run (default: the last)', 'last')
    .option('--name <name>', 'name of the test', 'run')
    .addOption(environmentOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf flow pin agent.ts', 'make a test of the last run'],
        ['farwharf flow pin agent.ts --run 20260102 --name refusal', 'make a test named refusal of another run'],
      ),
    )
    .action(runs(async () => (await import('./flowPin.ts')).pinFlow));
  flow
    .command('test')
    .argument('[paths...]', 'tests, or folders to look for them (default: the current one)')
    .description('run pinned tests without network')
    .option('--update', 'run what was edited live, and accept what changed')
    .addOption(environmentOption())
    .option('--json', 'print JSON, a line for each test')
    .addHelpText(
      'after',
      examples(
        ['farwharf flow test', 'run all tests below the current folder'],
        ['farwharf flow test agent.refusal.flowtest.json --update', 'run edited nodes live, and accept their results'],
      ),
    )
    .action(runs(async () => (await import('./flowTest.ts')).testFlows));
  flow
    .command('graph')
    .argument('<file>')
    .description('print the graph of a flow file, without running it')
    .addOption(new Option('--format <kind>', 'as what (default: mermaid)').choices(['json', 'mermaid', 'svg']))
    .option('--flow <name>', 'the flow, where the file has several')
    .option('--run', 'load the file too, for what its source does not tell; no flow is run')
    .addOption(environmentOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf flow graph agent.ts', 'print the graph as Mermaid'],
        ['farwharf flow graph agent.ts --format svg > agent.svg', 'draw it as a picture'],
      ),
    )
    .action(runs(async () => (await import('./flowGraph.ts')).printFlowGraph));
  flow
    .command('check')
    .argument('<file>')
    .description('tell what is wrong in a flow file, without running it; exit status 1 for errors')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        ['farwharf flow check agent.ts', 'list the problems of a file'],
        ['farwharf flow check agent.ts --json', 'list them for a program'],
      ),
    )
    .action(runs(async () => (await import('./flowCheck.ts')).checkFlow));
  return program;
}
