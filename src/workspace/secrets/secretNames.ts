const FOLDERS = new Set('.aws .azure .chef .env.d .gcloud .gnupg .kaggle .kube .oci .password-store .ssh'.split(' '));
const FILES = new Set(
  [
    '.git-credentials .netrc _netrc .htpasswd .envrc',
    '.npmrc .pypirc .dockercfg',
    '.my.cnf .pgpass .snowsql access_tokens.db credentials.db',
    '.boto .databrickscfg .rclone.conf rclone.conf .s3cfg kaggle.json kubeconfig application_default_credentials.json',
    '.terraformrc terraform.rc credentials.tfrc.json .vault-token',
  ].flatMap((line) => line.split(' ')),
);
/** Files that are recognized only with their folder. */
const FILES_IN_FOLDERS = [
  /(?:^|\/)\.docker\/config\.json$/,
  /(?:^|\/)\.config\/gcloud\//,
  /(?:^|\/)gcloud\/(?:credentials|legacy_credentials|properties)/,
  /(?:^|\/)\.cargo\/credentials(?:\.toml)?$/,
  /(?:^|\/)\.gem\/credentials$/,
  /(?:^|\/)\.m2\/settings(?:-security)?\.xml$/,
  /(?:^|\/)\.dvc\/config\.local$/,
  /(?:^|\/)\.streamlit\/secrets\.toml$/,
  /(?:^|\/)\.?huggingface\/token$/,
];
const PATTERNS: readonly { readonly name: string; readonly pattern: RegExp; readonly hasExamples?: true }[] = [
  // `.env`, `.env.local`, `.env-prod`, `.env_local`, and copies by editors.
  { name: '.env*', pattern: /^[.#]*\.env(?:[-._#].*)?$/, hasExamples: true },
  {
    name: '.env*',
    pattern: /.\.env(?:[-._](?:local|dev|development|prod|production|stag|stage|staging|test|ci|live|\d+))*$/,
    hasExamples: true,
  },
  {
    name: 'private key file',
    pattern:
      /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[-_.](?!.*(?:pub|py|js|ts|go|rs|c|h|md)$).*)?$|\.(?:pem|key|p12|pfx|jks|keystore|ppk)$/,
  },
  { name: 'Terraform state or values', pattern: /\.tfstate$|\.tfstate\.\d+$|\.tfvars(?:\.json)?$/, hasExamples: true },
  { name: 'cluster credentials', pattern: /\.kubeconfig$/ },
  { name: 'command history', pattern: /^\.(?:bash|zsh|sh|fish|python|psql|mysql|node_repl|sqlite)_history$/ },
];
const EXAMPLE = /(?:^|[._-])(?:example|sample|template|dist|defaults?)(?:\.env|\.tfvars(?:\.json)?)?$/;
// `id_rsa.bak` is a copy of `id_rsa`.
const COPY = /(?:~|#|\.(?:bak|backup|copy|old|orig|save|swp))+$/;

/** The rule by which a folder with this name contains secrets, if any. */
export function secretFolderRule(name: string): string | undefined {
  const plain = name.toLowerCase();
  return FOLDERS.has(plain) ? plain : undefined;
}

/** The rule by which the file at this path contains a secret, if any. */
export function secretFileRule(path: string): string | undefined {
  const plain = path.toLowerCase().replace(COPY, '');
  const name = plain.slice(plain.lastIndexOf('/') + 1);
  if (FILES.has(name)) return name;
  const rule = PATTERNS.find(({ pattern, hasExamples }) => pattern.test(name) && !(hasExamples && EXAMPLE.test(name)));
  if (rule !== undefined) return rule.name;
  return FILES_IN_FOLDERS.some((pattern) => pattern.test(plain)) ? 'stored login' : undefined;
}
