// What the console must show, by the tests that show it: flows from end to end, roles, and states that go wrong. Whoever
// renames or removes one of them learns here what is no longer shown. `npx vitest run test/console/counted.test.ts` counts.
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

/** The file, and words that begin or are in the name of its test. */
type Shown = readonly [file: string, name: string]

const FLOWS: Record<string, readonly Shown[]> = {
  'start, first event, export, proof': [['first-visit', 'from the printed password to an event']],
  'invite, join in a second browser': [
    ['members', 'invites, joins in another browser'],
    ['sign-in', 'an invite makes the account'],
    ['first-visit', 'a colleague'],
  ],
  'roles, and projects opened by an invite': [['members', 'are opened to a role']],
  'domain, verified against DNS': [['organization', 'a domain is proved by its record']],
  'write an app, try, enable, see the changed event': [
    ['apps', 'an app is written, tried before it is saved'],
    ['first-visit', 'an app that works'],
  ],
  'failed export, log, fix, retry, green': [['exports', 'goes from a failed run to a green one']],
  'proof, verify, repair': [['exports-proof', 'what was lost at the destination is named and repaired']],
  'pause, go on, delete': [['exports', 'is paused, goes on with what it missed']],
  'backfill from the proof': [['exports-proof', 'a backfill moves what was skipped']],
  'example, query, chart, history': [
    ['sql', 'goes from an example to a chart'],
    ['sql', 'the history keeps what was run'],
  ],
  'filter events, open one, take them away': [
    ['events', 'is filtered by chips'],
    ['events', 'as a file with the chosen columns'],
  ],
  'describe, verify and remove a definition': [['overview', 'are found, described, verified and removed']],
  'second factor': [
    ['account', 'sets up a second factor'],
    ['sign-in', 'asks for the second factor'],
  ],
  'password reset and verification of an address': [
    ['sign-in', 'a reset sets the new password once'],
    ['sign-in', 'a verification takes a press of a button'],
  ],
  'keys of a person and of a service': [
    ['account', 'are changed, given a new value and deleted'],
    ['organization', 'a service key is made for one thing'],
  ],
  'project made, changed, deleted': [['organization', 'is made, renamed, given a token and rules']],
  'ten errands, counted': [['errands', 'takes what is told']],
  'the main flow by keyboard alone': [
    ['keyboard', 'goes from the sign-in to a proved export'],
    ['keyboard', 'writes an app, tries it and switches it on'],
  ],
}

const ROLES: Record<string, readonly Shown[]> = {
  owner: [['first-visit', 'from the printed password to an event']],
  admin: [['errands', 'takes what is told']],
  member: [
    ['members', 'why things are closed to them'],
    ['organization', 'shows members why token and deletion are not theirs'],
    ['events', 'a member sees the same on a phone'],
    ['overview', 'members are told who may'],
    ['exports', 'is paused, goes on with what it missed'],
    ['apps', 'an organization that may only use apps'],
  ],
  staff: [['organization', 'tells staff how it is doing']],
  stranger: [['sign-in', 'asks for the address, then the password']],
}

const GONE_WRONG: Record<string, readonly Shown[]> = {
  'refused field': [
    ['organization', 'a refusal stands at its field'],
    ['exports-new', 'leads to the refused field'],
    ['apps', 'by address: a refusal stands at the field'],
  ],
  'wrong password, dead link': [
    ['sign-in', 'says what was wrong, keeps the address'],
    ['sign-in', 'a dead invite says why'],
  ],
  'not found, or of others': [
    ['exports', 'that does not exist, or belongs to others'],
    ['events', 'an event that is not there'],
  ],
  empty: [
    ['exports', 'says what exports are for while there are none'],
    ['events', 'an empty project leads to the first event'],
    ['sql', 'without rows says so'],
  ],
  'server answers 500': [
    ['weak-connection', '500 is said with its request'],
    ['members', 'say what failed, and go on when it is mended'],
    ['apps', 'says that it failed, and goes on when it is tried again'],
    ['exports', 'says when it cannot be read'],
  ],
  'server answers 503': [['weak-connection', '503 passes without a click']],
  'server is busy (429)': [['sql', 'that the server has no time for']],
  'server of another version': [['weak-connection', 'answers of another version']],
  'server gone': [['weak-connection', 'the page goes on by itself']],
  offline: [['weak-connection', 'a browser without a network says so at once']],
  'slow network, impatient hands': [['weak-connection', 'does once what was asked for twice']],
  'two tabs, signed out in one': [['two-tabs', 'signing out is noticed']],
  'session too old in the middle': [['account', 'a question for the password in the middle']],
  'reload in the middle': [
    ['exports-new', 'is made step by step'],
    ['sql', 'that was typed and not run survives a reload'],
    ['apps', 'an app is written, tried before it is saved'],
  ],
  'code that is wrong': [['apps', 'code that is wrong says where']],
  'query that is wrong': [['sql', 'told what is wrong with it and where']],
  'account that does not add up': [['exports-proof', 'says in red when it does not add up']],
  'stored attacks': [['stored-attacks.long', 'none of them runs on any page']],
}

describe.each([
  ['flows', FLOWS],
  ['roles', ROLES],
  ['states that go wrong', GONE_WRONG],
])('%s', (_kind, all) => {
  it.each(Object.entries(all))('%s', async (_name, tests) => {
    for (const [file, name] of tests)
      expect(await readFile(`test/console/${file}.test.ts`, 'utf8'), `${file}: ${name}`).toContain(name)
  })
})
