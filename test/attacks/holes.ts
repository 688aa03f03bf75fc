// The holes that were found in systems like this one, and in this one: where each was seen, and what is done about it
// here. The attacks on them stand in the files beside; docs/security.md is made of both.

export type HoleId = `S${number}`

type Hole = {
  id: HoleId
  title: string
  seen: string
  /** What is done about it here. */
  rule: string
  /** For holes that no request can go for: what guards them in place of attacks. */
  guard?: string
}

export const HOLES: readonly Hole[] = [
  {
    id: 'S1',
    title: 'calls to inner addresses',
    seen: 'PostHog CVE-2023-46746',
    rule: 'One gate for every call that a user can cause: destinations, sources of apps, and what apps fetch.',
  },
  {
    id: 'S2',
    title: 'checked at one door only',
    seen: 'PostHog CVE-2024-9710, CVE-2025-1521, CVE-2025-1522',
    rule: 'Addresses are checked when they are saved, changed and tested, and again when a run connects.',
  },
  {
    id: 'S3',
    title: 'text of users in SQL',
    seen: 'PostHog CVE-2025-1520',
    rule: 'Queries become a tree of tables, columns and functions that are listed; values are bound, names are quoted.',
  },
  {
    id: 'S4',
    title: 'spellings of an inner address',
    seen: 'PostHog #44859, #93589',
    rule: 'Decimal, octal, hexadecimal, short and Unicode forms are read as one; a name that does not resolve is refused.',
  },
  {
    id: 'S5',
    title: 'inner addresses inside IPv6',
    seen: 'Directus CVE-2026-35409',
    rule: 'Addresses are compared as bytes, and only global unicast ones are public.',
  },
  {
    id: 'S6',
    title: 'names that turn inward, and redirects',
    seen: 'ech0 GHSA-r2x7-427f-rq69, Postiz CVE-2026-40168',
    rule: 'The address that was checked is the one that is dialled; destinations follow no redirect.',
  },
  {
    id: 'S7',
    title: 'stored secrets sent elsewhere',
    seen: 'Langfuse CVE-2026-41487',
    rule: 'Whoever changes where an export goes sends its secrets again.',
  },
  {
    id: 'S8',
    title: 'answers that repeat a password',
    seen: 'PostHog #94326',
    rule: 'Refusals name the field and the rule, never the value.',
  },
  {
    id: 'S9',
    title: 'secrets given out again',
    seen: 'PostHog #102172',
    rule: 'Secrets are sealed at rest and absent from every answer, log and diff.',
  },
  {
    id: 'S10',
    title: "other tenants' things",
    seen: 'PostHog PSA-2025-00001',
    rule: 'Every statement is bound to the organization or project of the path, and rights are asked there.',
  },
  {
    id: 'S11',
    title: 'signed in, so allowed',
    seen: 'Langfuse CVE-2025-59305',
    rule: 'Each route declares scope and level; without both it does not exist.',
  },
  {
    id: 'S12',
    title: 'links of invites',
    seen: 'Keycloak CVE-2026-1529',
    rule: 'A link holds a random secret, hashed at rest, for one use; nothing in it has a meaning.',
  },
  {
    id: 'S13',
    title: 'invites of other organizations',
    seen: 'keycloak#47135, #47415',
    rule: 'Invites are found by organization and id, and die with their organization.',
  },
  {
    id: 'S14',
    title: 'a field of the body says who',
    seen: 'Better Auth CVE-2025-61928',
    rule: 'Who acts comes from the credential alone; fields that are not offered change nothing.',
  },
  {
    id: 'S15',
    title: 'forged SAML answers',
    seen: 'samlify CVE-2025-47949, xml-crypto CVE-2025-29774, node-saml CVE-2025-54419',
    rule: 'One signed assertion, read from the bytes whose signature was verified, with pinned certificates. For us, now, once, and as asked for.',
  },
  {
    id: 'S16',
    title: 'open redirects',
    seen: 'Directus CVE-2026-22032',
    rule: 'After sign-in, redirects go only to plain paths of this server.',
  },
  {
    id: 'S17',
    title: 'ways round single sign-on and leaving',
    seen: 'Langfuse, fixed in 3.174.0; PostHog',
    rule: 'One place decides whether a password counts. Rights are looked up with each request, so they end at once.',
  },
  {
    id: 'S18',
    title: 'keys that mean something to JavaScript',
    seen: 'Langfuse 3.167.4',
    rule: "Users' keys live in maps and objects without a prototype.",
  },
  {
    id: 'S19',
    title: "users' code reaches the server",
    seen: 'n8n CVE-2025-68613, CVE-2026-1470, -27495, -27497, -27577, -21877, -49444',
    rule: 'Apps run in QuickJS inside WebAssembly, which has no files, no network and no processes.',
  },
  {
    id: 'S20',
    title: "users' code without limits",
    seen: 'PostHog #6855, vm2 GHSA-7jxr-cg7f-gpgv',
    rule: 'Apps have limits of time and memory, and run on threads that are replaced when one hangs.',
  },
  {
    id: 'S21',
    title: 'driver options, and names that leave their folder',
    seen: 'Airflow CVE-2023-22886, CVE-2026-50203',
    rule: 'Configurations are strict; file names stay below their prefix, files below the folder of the project.',
  },
  {
    id: 'S22',
    title: 'formulas in CSV files',
    seen: 'CSV files opened in spreadsheets',
    rule: 'Cells that begin like a formula get an apostrophe; JSON is as it was sent.',
  },
  {
    id: 'S23',
    title: 'TLS that is not verified',
    seen: 'PostHog PSA-2026-00001 and -00002',
    rule: 'Certificates are verified, and databases without TLS are refused, unless the operator says otherwise.',
  },
  {
    id: 'S24',
    title: 'secrets that others on the machine can read',
    seen: 'PostHog PSA-2026-00001',
    rule: 'Files are 0600 in folders of 0700, PostgreSQL has a password and a user of its own.',
  },
  {
    id: 'S25',
    title: 'packages that turn hostile',
    seen: 'Shai-Hulud and the take-over of DuckDB on npm, 2025',
    rule: 'Few packages, pinned with their hashes, installed without scripts.',
    guard: '`test/lockfile.test.ts`',
  },
  {
    id: 'S26',
    title: 'passwords that everybody knows',
    seen: "PostHog's and Jitsu's sample files",
    rule: 'The first start makes random ones.',
  },
  {
    id: 'S27',
    title: 'roles of clouds lent to others',
    seen: 'PostHog (prevented)',
    rule: 'Roles cannot be configured: destinations take keys only.',
  },
  {
    id: 'S28',
    title: 'forged and endless log lines',
    seen: 'RudderStack #7339',
    rule: 'The log is JSON, one object a line, with texts that are escaped and cut.',
  },
  {
    id: 'S29',
    title: 'lists that open something',
    seen: 'here',
    rule: 'Secrets are values of their own, shown once. What a list shows opens nothing.',
  },
  {
    id: 'S30',
    title: 'queries that grow',
    seen: 'here',
    rule: 'Queries are bounded after expansion, and run in processes that are killed from outside.',
  },
  {
    id: 'S31',
    title: 'limited keys and old sessions that take an account over',
    seen: 'here',
    rule: 'Changing how somebody signs in requires a sign-in within the last 15 minutes. For address and password an unlimited key also does.',
  },
  {
    id: 'S32',
    title: 'bodies that cost more than they weigh',
    seen: 'here',
    rule: 'Refused before the work: token, size, depth and number of values, while unpacking.',
  },
  {
    id: 'S33',
    title: 'long work on the main thread',
    seen: 'here',
    rule: 'Texts, trees and lists are bounded while they are read.',
  },
  {
    id: 'S34',
    title: 'transformations that can be skipped',
    seen: 'here',
    rule: 'What clients send under the names of our own marks is removed.',
  },
  {
    id: 'S35',
    title: 'guesses over many accounts',
    seen: 'here',
    rule: 'Tries are counted by account, address and network, before they are checked, and kept over restarts.',
  },
  {
    id: 'S36',
    title: "other tenants' apps",
    seen: 'here',
    rule: 'Apps for everybody are made by staff; nobody changes the app of another organization, or one that runs in a project closed to them.',
  },
  {
    id: 'S37',
    title: 'stuck exports',
    seen: 'here',
    rule: 'Runs are shared by project and destination; a dead destination holds up its own runs only.',
  },
  {
    id: 'S38',
    title: 'floods',
    seen: 'here',
    rule: 'Connections, requests, events under way and streams are shared by address, project and organization.',
  },
  {
    id: 'S39',
    title: 'answers of servers that users name',
    seen: 'here',
    rule: 'What a database sends is looked at before the driver reads it, and bounded for each statement.',
  },
  {
    id: 'S40',
    title: 'forged answers of OpenID and OAuth providers',
    seen: 'mix-up (RFC 9207), nOAuth; jsonwebtoken CVE-2015-9235',
    rule: 'Signature, issuer, audience, nonce and times are checked, and a code goes to the provider it came from alone.',
  },
]
