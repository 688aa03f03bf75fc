// Who visits the sample shop. A visitor follows from the seed and a number alone, so that none has to be remembered.
import { COMPANIES, FIRST_NAMES, INDUSTRIES, LAST_NAMES, PLACES, PLANS, PLATFORMS } from './catalogue.ts'
import { Random } from './random.ts'

export type Company = { key: string; name: string; industry: string; employees: number }

export type Visitor = {
  /** What they are known by until they sign up. */
  device_id: string
  /** Null: never signs up. */
  account: { user_id: string; email: string; name: string; plan: string; company: Company | null } | null
  /** What every event of theirs carries. */
  properties: Record<string, unknown>
}

const [VISITOR, COMPANY] = [1, 2]
const SIGNS_UP = 0.38
const WORKS_WITH_US = 0.3
const VISITORS_PER_COMPANY = 40
/** Networks reserved for examples. */
const NETWORKS = ['192.0.2', '198.51.100', '203.0.113']

export function visitorOf(seed: number, number: number): Visitor {
  const random = new Random(seed, VISITOR, number)
  const platform = random.pickByShare(PLATFORMS)
  const place = random.pickByShare(PLACES)
  const version = random.pick<number>(platform.versions)
  const [width, height] = random.pick<readonly [number, number]>(platform.screens)
  const device_id = random.uuid4()
  return {
    device_id,
    account: random.chance(SIGNS_UP) ? accountOf(random, seed, number) : null,
    properties: {
      ...platform.system,
      $browser: platform.browser,
      $browser_version: version,
      $browser_language: place.language,
      $screen_width: width,
      $screen_height: height,
      $timezone: place.timezone,
      $geoip_country_code: place.country,
      $ip: `${random.pick(NETWORKS)}.${random.between(1, 254)}`,
      $device_id: device_id,
      $lib: 'web',
      $lib_version: '1.155.0',
    },
  }
}

function accountOf(random: Random, seed: number, number: number): Visitor['account'] {
  const user_id = `usr_${random.hex(3)}`
  const [first, last] = [random.pick(FIRST_NAMES), random.pick(LAST_NAMES)]
  return {
    user_id,
    email: `${first}.${last}.${number}@example.com`.toLowerCase(),
    name: `${first} ${last}`,
    plan: random.pickByShare(PLANS).plan,
    company: random.chance(WORKS_WITH_US) ? companyOf(seed, Math.floor(number / VISITORS_PER_COMPANY)) : null,
  }
}

function companyOf(seed: number, number: number): Company {
  const random = new Random(seed, COMPANY, number)
  return {
    key: `cmp_${random.hex(2)}`,
    name: `${random.pick(COMPANIES)} ${number + 1}`,
    industry: random.pick(INDUSTRIES),
    employees: Math.round(5 + random.exponential(180)),
  }
}
