// Whether an app takes something away: events it drops, properties it removes. Such an app is a guard, and by default its
// events wait for it (configs/rules.ts). Code is tried on samples when it is saved, and watched while it runs.
import { randomInt } from 'node:crypto'
import { writeEventText } from '../../platform/sandbox/event-text.ts'
import {
  AppFault,
  type EventOutcome,
  type EventPatch,
  type Offer,
  type Sandbox,
} from '../../platform/sandbox/sandbox.ts'
import { openDryHost } from './test-run/dry-host.ts'

const WITHIN_MS = 3_000
const MAX_WORDS = 500
const MAX_NAMES = 30

export function isRemoval(outcome: EventOutcome): boolean {
  if (outcome.kind !== 'changed') return outcome.kind === 'dropped'
  const { unset, properties } = outcome.patch
  const isOfPerson = unset.some((name) => name === '$set' || name === '$set_once')
  return isOfPerson || properties.unset.length > 0 || emptiedBy(properties).length > 0
}

/** An app that computes a number from a value that is none has taken nothing away on purpose. */
function emptiedBy({ set, not_finite = [] }: EventPatch['properties']): string[] {
  return Object.keys(set).filter((name) => isEmpty(set[name]) && !not_finite.includes(name))
}

/** Without settings and network. Code that fails is not known to remove anything; code that had no turn might. */
export async function removesWhenTried(
  sandbox: Sandbox,
  { capabilities }: Offer,
  code: string,
): Promise<boolean> {
  if (!capabilities.methods.includes('processEvent')) return false
  const id = -randomInt(1, 2 ** 47)
  const nobodys = { version: 'trial', tenant: null, mappings: null, name: '', config: {}, attachments: {} }
  try {
    const app = { ...nobodys, id, group: `trial ${id}`, code }
    const words = new Set(code.match(/[$\w]+/g)?.slice(0, MAX_WORDS))
    const samples = samplesFor(words, code)
    // Behind the others, whose time they must not take.
    const shaped = SHAPES.map((value) => writeSample(NAME, words, value))
    const { host } = openDryHost(null)
    const outcomes = await sandbox.processEvents(app, host, [...samples, ...shaped], WITHIN_MS)
    return outcomes.some((outcome) => isRemoval(outcome) || isLate(outcome))
  } catch (error) {
    if (error instanceof AppFault) return false
    throw error
  } finally {
    await sandbox.dispose(id)
  }
}

/** Events that have every word of the code as a property, under each of the names that the code mentions. */
function samplesFor(words: ReadonlySet<string>, code: string): string[] {
  const mentioned = Array.from(code.matchAll(/(['"`])([^'"`\n]{1,100})\1/g), ([, , text]) => text!)
  const names = new Set([NAME, ...mentioned.slice(0, MAX_NAMES)])
  return [...names].map((event) => writeSample(event, words, 'sample'))
}

/** For apps that remove what looks like one of these, such as numbers or addresses. */
const SHAPES = [
  7,
  'ada@example.com',
  'https://example.com/?email=ada@example.com',
  true,
  { nested: 'sample' },
]
const NAME = '$pageview'

function writeSample(event: string, words: ReadonlySet<string>, value: unknown): string {
  return writeEventText({ ...FIELDS, event }, Object.fromEntries([...words].map((word) => [word, value])))
}

const FIELDS = {
  uuid: '00000000-0000-4000-8000-000000000000',
  distinct_id: 'sample',
  team_id: 1,
  ip: null,
  site_url: '',
  now: '2024-01-01T00:00:00.000Z',
  timestamp: '2024-01-01T00:00:00.000Z',
}

const isLate = (outcome: EventOutcome) => outcome.kind === 'failed' && outcome.fault.kind === 'late'
const isEmpty = (value: unknown) => value === null || value === ''
