import { AppError } from '../../core/errors.ts';

/** A model service of a cloud: its address contains a resource, a region or a project of the user. */
interface Cloud {
  /** Hosts by which a `baseUrl` is recognized. */
  readonly hosts: RegExp;
  /** The variable with the key, as the cloud's own tools name it. */
  readonly keyVariable: string;
  readonly model: string;
  /** The header of a key; tokens and other keys are bearer tokens. */
  readonly keyHeader?: 'api-key';
  /** An example address, for people who enter theirs. */
  readonly example: string;
  /** The error message if the key is missing; the usual one if absent. */
  readonly keyAdvice?: string;
  /** The address that the variables of the cloud's own tools describe. @throws AppError `bad-input` if they do not. */
  address(env: Environment): string;
}

type Environment = Readonly<Record<string, string | undefined>>;

// The addresses and variables were looked up on 2026-11-25 in stored copies of learn.microsoft.com (Azure OpenAI v1 API and its REST
// reference), docs.aws.amazon.com/bedrock (inference-chat-completions) and docs.cloud.google.com/vertex-ai (migrate/openai).
export const CLOUDS: Readonly<Record<string, Cloud>> = {
  azure: {
    hosts: /\.(?:openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)$/,
    keyVariable: 'AZURE_OPENAI_API_KEY',
    model: 'gpt-4o-mini',
    keyHeader: 'api-key',
    example: 'https://my-resource.openai.azure.com',
    address({ AZURE_OPENAI_ENDPOINT: endpoint, OPENAI_API_VERSION: version }) {
      if (!endpoint) throw missing('azure', 'the endpoint of your resource', 'AZURE_OPENAI_ENDPOINT');
      const isVersioned = version !== undefined && version !== '' && URL.parse(endpoint)?.searchParams.size === 0;
      return isVersioned ? `${endpoint}?api-version=${encodeURIComponent(version)}` : endpoint;
    },
  },
  bedrock: {
    hosts: /^bedrock-(?:runtime|mantle)\.[\w-]+\.(?:amazonaws\.com|api\.aws)$/,
    keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
    model: 'openai.gpt-oss-120b-1:0',
    example: 'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1',
    address({ AWS_REGION, AWS_DEFAULT_REGION }) {
      const region = AWS_REGION || AWS_DEFAULT_REGION;
      if (!region) throw missing('bedrock', 'a region', 'AWS_REGION');
      return `https://bedrock-runtime.${region}.amazonaws.com/openai/v1`;
    },
  },
  vertex: {
    hosts: /^(?:[\w-]+-)?aiplatform\.googleapis\.com$/,
    keyVariable: 'VERTEX_API_KEY',
    model: 'google/gemini-3.5-flash-lite',
    example: 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/endpoints/openapi',
    keyAdvice:
      'vertex needs an access token. Sign in with gcloud auth login, set VERTEX_API_KEY, or pass apiKey: a function that returns one.',
    address({ GOOGLE_CLOUD_PROJECT: project, GOOGLE_CLOUD_LOCATION }) {
      if (!project) throw missing('vertex', 'a project', 'GOOGLE_CLOUD_PROJECT');
      const location = GOOGLE_CLOUD_LOCATION || 'global';
      const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
      return `https://${host}/v1/projects/${project}/locations/${location}/endpoints/openapi`;
    },
  },
};

/** The variables that describe addresses; they contain no secrets. */
export const ADDRESS_VARIABLES: readonly string[] = [
  'OPENAI_BASE_URL',
  'AZURE_OPENAI_ENDPOINT',
  'OPENAI_API_VERSION',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
];

function missing(provider: string, what: string, variable: string): AppError {
  return new AppError('bad-input', `${provider} needs ${what}. Set ${variable}, or pass baseUrl.`);
}

/**
 * The address for chat completions at Azure, from what people usually have: the address of the resource, of its `/openai/v1`, or of a
 * deployment. With an `api-version`, the model is the deployment in the path.
 */
export function azureAddress(address: URL, model: string): URL {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/(?:chat\/completions\/?)?$/, '');
  if (url.pathname !== '/' && url.pathname !== '/openai') return url;
  url.pathname = url.searchParams.has('api-version')
    ? `/openai/deployments/${encodeURIComponent(model)}`
    : '/openai/v1';
  return url;
}
