// What /docs opens with: the introduction of the OpenAPI document, and its sections.

export const INTRODUCTION = `Longshore manages organizations, projects, API keys and apps, takes in events, answers
questions about them, and exports them to files, buckets and warehouses. It speaks PostHog's API: paths, fields and
status codes are PostHog's, so its SDKs and scripts work with the address changed.

## Authentication

Send a personal API key (\`phx_…\`) or a service key (\`lsk_…\`) as a bearer token:

\`\`\`sh
curl -H "Authorization: Bearer $LONGSHORE_KEY" $LONGSHORE_URL/api/users/@me/
\`\`\`

The first start prints a key. A person who is signed in makes more on the page Account or with
\`POST /api/personal_api_keys/\`; a key cannot make keys. Each has scopes such as \`batch_export:read\` and may be limited to
organizations or projects. Each operation below names the scope and the level
(member, admin, owner) that it needs. A browser that is signed in needs no key.

Events are sent with the token of a project (\`phc_…\`), which is public and opens nothing else.

## Ids in paths

\`@current\` in place of an organization or project id means the caller's current one. A project that you make becomes your
current one: use ids where that matters. \`@me\` in place of a user's id
means the caller. \`/api/environments/…\` is \`/api/projects/…\` under the name that newer PostHog clients use.

## Lists

Lists take \`limit\` (100, at most 1000) and \`offset\`, and answer \`{count, next, previous, results}\`, where \`next\` is
the address of the next page. The list of events takes a \`limit\` of up to 50,000 and answers \`{next, results}\`.

## Errors

Every error has the same shape: \`{type, code, detail, attr}\`, and \`extra\` with the place for a fault in HogQL. Programs should look at \`code\`; \`detail\` is a sentence
for people, and \`attr\` names the field. Each answer carries \`X-Request-Id\`, which the server's log repeats.

## Streams

Paths that end in \`stream/\` answer with server-sent events (\`text/event-stream\`), which browsers read with
\`EventSource\`: events as they are stored, runs of exports and logs as they go. A message with an id can be gone on from:
open the stream again with the last id in the header \`Last-Event-ID\`, as browsers do, or in \`last_event_id\`, and what
came meanwhile follows, each once. Ids without a message tell how far you are. A stream ends after ten minutes, when the
server stops, and when you lose the right to it; without the message \`end\`, open it again. A caller may have 20 streams
open, a project 200, an organization 250.

## Retries

A \`POST\` under \`/api\` with an \`Idempotency-Key\` header is carried out once, however often it is sent: repeats get the
first answer. Events with the same \`uuid\` are stored once if their
timestamps are less than a day apart.
Wait as long as \`Retry-After\` says after 429 and 503.`

/** In the order of /docs. A path belongs to the first section whose pattern fits. */
export const SECTIONS: readonly { name: string; paths: RegExp; description: string }[] = [
  {
    name: 'Apps',
    paths: /\/plugin|\/pipeline_|\/app_metrics\//,
    description:
      'Code that changes events before they are stored, sends them on, or runs on web pages. The paths under `pipeline_…` show apps of one kind.',
  },
  {
    name: 'Exports',
    paths: /\/batch_exports\//,
    description:
      'Events carried to files, buckets and warehouses on a schedule, each event once: exports, their runs, backfills, proofs and logs.',
  },
  {
    name: 'Persons and groups',
    paths: /\/persons\/|\/groups_types\//,
    description: 'The people and the groups (companies, teams) that events belong to.',
  },
  { name: 'Events', paths: /\/events\b/, description: 'Stored events, newest first, with filters.' },
  {
    name: 'Queries',
    paths: /\/query\//,
    description: 'Questions in HogQL, and queries as nodes: events, trends, funnels, retention.',
  },
  {
    name: 'Definitions',
    paths: /\/event_definitions\/|\/property_definitions\//,
    description: 'Which events and properties a project has, and what people say of them.',
  },
  {
    name: 'Agents',
    paths: /\/mcp_tools\/|^\/mcp/,
    description:
      'Tools for language models: `/mcp` for any client of that protocol, `mcp_tools/` for PostHog’s own.',
  },
  {
    name: 'Feature flags',
    paths: /\/feature_flags?\/|^\/flags\//,
    description: 'This server has no feature flags. The paths answer so, because libraries ask for them.',
  },
  {
    name: 'Annotations',
    paths: /\/annotations\//,
    description: 'Notes on the time line of a project.',
  },
  { name: 'Activity log', paths: /\/activity_log\//, description: 'Who changed what, and when.' },
  {
    name: 'Roles',
    paths: /\/roles\/|\/role_memberships\/|\/access_controls\//,
    description: 'Groups of members, and who may reach which project.',
  },
  { name: 'Members', paths: /\/members\//, description: 'Who belongs to an organization, and their level.' },
  { name: 'Invites', paths: /\/invites\//, description: 'Invitations to an organization.' },
  {
    name: 'SCIM',
    paths: /\/scim\//,
    description:
      'A directory (Okta, Entra ID, OneLogin, JumpCloud, Google) makes people members, changes and removes them. Admins set it up below a domain; the directory calls `/scim/v2/…` with the token that it was given.',
  },
  {
    name: 'Domains',
    paths: /\/domains\//,
    description: 'Domains that an organization has proved to own, and what they mean for sign-in.',
  },
  {
    name: 'API keys',
    paths: /\/service_keys\/|\/personal_api_keys\//,
    description: 'Personal keys act for a person. Service keys belong to an organization.',
  },
  {
    name: 'Projects',
    paths: /^\/api\/(?:projects|environments)\/|\/organizations\/[^/]+\/projects\//,
    description: 'Where events live. A project has a token that SDKs send events with.',
  },
  { name: 'Organizations', paths: /^\/api\/organizations\//, description: 'Tenants of this server.' },
  { name: 'Account', paths: /^\/api\/users\//, description: "The caller's own account and second factor." },
  {
    name: 'Sign-in',
    paths: /^\/api\/(?:login|logout|signup|reset|saml)\/|^\/_preflight\/|^\/(?:login|complete)\//,
    description:
      'Signing in and up, and getting back in. Programs use keys instead. Browsers go to `/login/<provider>/`, and come back to `/complete/<provider>/`.',
  },
  {
    name: 'Server',
    paths: /^\/api\/instance_status\//,
    description: 'How this server is doing, for the staff that runs it.',
  },
  {
    name: 'Capture',
    paths: /^\/(?:batch|capture|e|i|track|engage)\//,
    description: "Where SDKs send events, with a project's token.",
  },
]
