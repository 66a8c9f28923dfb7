import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandFile } from '../../../../src/jobs/selection/commandFile.ts';

test('the file that a command runs is found where its program is known', () => {
  for (const [line, file] of [
    ['python train.py --data x.py', 'train.py'],
    ['python3.12 -u -X dev -W ignore src/train.py', 'src/train.py'],
    ['/usr/bin/python3 ./train.py', 'train.py'],
    ['torchrun --standalone --nproc_per_node 2 train.py --lr 1', 'train.py'],
    ['torchrun --nproc-per-node=2 --nnodes 1 tools/train.py', 'tools/train.py'],
    ['python -m torch.distributed.run --nproc_per_node 2 train.py', 'train.py'],
    ['accelerate launch --config_file a.yaml --num_processes 2 train.py', 'train.py'],
    ['deepspeed --num_gpus 2 train.py --deepspeed ds.json', 'train.py'],
    ['uv run train.py', 'train.py'],
    ['uv run --with numpy --python 3.12 python train.py', 'train.py'],
    ['uv run --script train.py', 'train.py'],
    ['poetry run python train.py', 'train.py'],
    ['env SEED=1 python train.py', 'train.py'],
    ['mpirun -n 4 python train.py', 'train.py'],
    ['node --require ./hook.js --max-old-space-size=1 app.js a.js', 'app.js'],
    ['Rscript --vanilla a.R 1', 'a.R'],
    ['julia --project=. -t 4 a.jl', 'a.jl'],
    ['bash -e -o pipefail run.sh', 'run.sh'],
    ['./run.sh a', 'run.sh'],
    ['bin/tool', 'bin/tool'],
    ['make -f rules.mk all', 'rules.mk'],
    ['make -C sub --file=rules.mk', 'sub/rules.mk'],
  ] as const) {
    const found = commandFile(line.split(' '));
    assert.deepEqual([found?.paths[0], found?.isRequired], [file, true], line);
  }
  assert.ok(commandFile(['node', 'app'])?.paths.includes('app/index.js'));
});

test('a module and a makefile need not be there, and some commands run no file of the folder', () => {
  for (const [line, path] of [
    ['python -m pkg.train --lr 1', 'pkg/train.py'],
    ['python -u -m pkg.train', 'pkg/train.py'],
    ['torchrun -m pkg.train', 'pkg/train.py'],
    ['accelerate launch --module pkg.train x.py', 'pkg/train.py'],
    ['uv run -m pkg.train', 'pkg/train.py'],
    ['uv run python -m pkg.train', 'pkg/train.py'],
    ['make -j4 all', 'GNUmakefile'],
    ['make -Csub', 'sub/GNUmakefile'],
  ] as const) {
    const found = commandFile(line.split(' '));
    assert.deepEqual([found?.paths[0], found?.isRequired], [path, false], line);
  }
  assert.ok(commandFile(['python', '-m', 'pkg'])?.paths.includes('pkg/__main__.py'));
  for (const line of [
    '',
    'python -c train.py',
    'python',
    'python -',
    'python /opt/train.py',
    'python ../train.py',
    'node -e app.js',
    'sh -c ./run.sh',
    'Rscript -e a.R',
    'ls train.py',
    'uv sync',
    'accelerate config',
    'torchrun --nproc_per_node 2',
    '/opt/tool',
  ]) {
    assert.equal(commandFile(line.split(' ')), undefined, line);
  }
});
