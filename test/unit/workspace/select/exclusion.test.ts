import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ASIDE_FOLDER,
  judgeFileName,
  judgeFolderName,
  STAGING_PREFIX,
} from '../../../../src/workspace/select/exclusion.ts';

test('folders of tools, of environments, of git and of secrets are excluded by their names', () => {
  const caches =
    'node_modules .parcel-cache .gradle __pycache__ .pytest_cache .mypy_cache .ruff_cache .pytype .hypothesis .ipynb_checkpoints .tox .nox .Trash __MACOSX';
  for (const name of caches.split(' ')) assert.deepEqual(judgeFolderName(name), { reason: 'cache', rule: name });
  assert.deepEqual(judgeFolderName('.git'), { reason: 'git', rule: '.git' });
  assert.deepEqual(judgeFolderName('.venv'), { reason: 'venv', rule: '.venv' });
  assert.deepEqual(judgeFolderName(ASIDE_FOLDER), { reason: 'cache', rule: '.farwharf-results' });
  assert.deepEqual(judgeFolderName(`${STAGING_PREFIX}x`), { reason: 'cache', rule: '.farwharf-staging-*' });
  const secrets = '.aws .azure .chef .env.d .gcloud .gnupg .kaggle .kube .oci .password-store .ssh';
  for (const name of secrets.split(' ')) assert.deepEqual(judgeFolderName(name), { reason: 'secret', rule: name });
  assert.deepEqual(judgeFolderName('.SSH'), { reason: 'secret', rule: '.ssh' });
  for (const name of [
    'src',
    '',
    'venv',
    'git',
    'x.git',
    '.github',
    'ssh',
    'x.farwharf-staging-',
    'Node_Modules',
    '.tox2',
  ]) {
    assert.equal(judgeFolderName(name), undefined, name);
  }
});

test('files of systems, of git and of secrets are excluded by their names, in any folder', () => {
  for (const folder of ['', 'a/b/']) {
    for (const name of ['.DS_Store', 'Thumbs.db', 'desktop.ini']) {
      assert.deepEqual(judgeFileName(folder + name), { reason: 'cache', rule: name });
    }
    assert.deepEqual(judgeFileName(`${folder}.git`), { reason: 'git', rule: '.git' });
    assert.deepEqual(judgeFileName(`${folder}${STAGING_PREFIX}x`), { reason: 'cache', rule: '.farwharf-staging-*' });
    for (const [name, rule] of [
      ['.env', '.env*'],
      ['prod.env', '.env*'],
      ['.netrc', '.netrc'],
      ['id_rsa', 'private key file'],
      ['x.pem', 'private key file'],
      ['x.tfstate', 'Terraform state or values'],
      ['x.kubeconfig', 'cluster credentials'],
      ['.bash_history', 'command history'],
      ['.docker/config.json', 'stored login'],
    ] as const) {
      assert.deepEqual(judgeFileName(folder + name), { reason: 'secret', rule }, folder + name);
    }
    for (const name of ['main.py', 'node_modules', 'thumbs.db', 'x.DS_Store', '.gitx', 'git', '.env.example']) {
      assert.equal(judgeFileName(folder + name), undefined, name);
    }
  }
  assert.equal(judgeFileName('.git/config'), undefined, 'the folder is judged by itself');
});

test('every name of a file with stored credentials is known, in any case and as a copy', () => {
  const names =
    '.git-credentials .netrc _netrc .htpasswd .envrc .npmrc .pypirc .dockercfg .my.cnf .pgpass .snowsql access_tokens.db credentials.db ' +
    '.boto .databrickscfg .rclone.conf rclone.conf .s3cfg kaggle.json kubeconfig application_default_credentials.json ' +
    '.terraformrc terraform.rc credentials.tfrc.json .vault-token';
  for (const name of names.split(' ')) {
    for (const spelling of [name, name.toUpperCase(), `${name}.bak`, `${name}~`, `a/${name}.old.orig`]) {
      assert.deepEqual(judgeFileName(spelling), { reason: 'secret', rule: name }, spelling);
    }
  }
});
