// Which attacks run on which program: one test file for each suite, named like it.
import type { Attack } from './attack.ts'
import { openCaptureWorld } from './capture-world.ts'
import { attacks as outbound } from './s01-s02-outbound.ts'
import { attacks as postgres, WAREHOUSE } from './s03-postgres.ts'
import { attacks as sql } from './s03-sql.ts'
import { attacks as addresses } from './s04-s05-addresses.ts'
import { attacks as redirects } from './s06-redirects.ts'
import { attacks as secrets } from './s07-s08-s09-secrets.ts'
import { attacks as directories } from './s09-directories.ts'
import { attacks as tenants } from './s10-s11-s13-tenants.ts'
import { attacks as consoles } from './s11-s16-s17-console.ts'
import { attacks as invites } from './s12-s29-invites.ts'
import { attacks as bodies } from './s14-bodies.ts'
import { attacks as returns } from './s16-s40-returns.ts'
import { attacks as signOn } from './s15-s16-s17-sign-on.ts'
import { attacks as samlAnswers } from './s15-saml.ts'
import { attacks as prototypes } from './s18-prototypes.ts'
import { attacks as apps } from './s19-s20-s34-s36-apps.ts'
import { attacks as names } from './s21-s22-files.ts'
import { attacks as instance } from './s23-s26-s28-instance.ts'
import { attacks as files, openRootWorld } from './s24-files.ts'
import { attacks as queries } from './s30-s33-query-bombs.ts'
import { attacks as accounts } from './s31-accounts.ts'
import { attacks as captured } from './s32-bodies.ts'
import { attacks as texts } from './s32-texts.ts'
import { attacks as guesses, openGuessWorld } from './s35-guesses.ts'
import { attacks as stuck } from './s37-stuck.ts'
import { attacks as floods } from './s38-floods.ts'
import { attacks as sockets, openSocketWorld } from './s38-sockets.ts'
import { attacks as answers } from './s39-answers.ts'
import { attacks as idTokens } from './s40-id-tokens.ts'
import { attacks as providers } from './s40-providers.ts'
import { attacks as social } from './s40-social.ts'
import { attacks as socialManners } from './s40-social-manners.ts'
import { openScene, OUTSIDE } from './scene.ts'
import { openSignOnScene } from './sign-on-scene.ts'
import type { Target } from './target.ts'

/** Without a target there is nobody to watch: the program is ended and started in between. */
export type World = { target?: Target; close(): Promise<unknown> }
type Suite<W extends World> = { attacks: readonly Attack<W>[]; open(): Promise<W> }

const suite = <W extends World>(open: Suite<W>['open'], ...attacks: Attack<W>[][]): Suite<W> => ({
  attacks: attacks.flat(),
  open,
})
const openWithWarehouse = () =>
  openScene({ ALLOW_PLAINTEXT: 'on', OUTBOUND_ALLOW: `${OUTSIDE},${WAREHOUSE}` })

export const SUITES = {
  outbound: suite(openScene, outbound, addresses, redirects, stuck),
  data: suite(openWithWarehouse, sql, postgres, answers, secrets),
  tenants: suite(openScene, tenants, invites),
  people: suite(openScene, bodies, signOn, samlAnswers, accounts, directories),
  openid: suite(openSignOnScene, idTokens, returns, providers, social, socialManners),
  engines: suite(openScene, prototypes, apps, queries),
  instance: suite(openScene, names, instance, consoles),
  capture: suite(openCaptureWorld, captured, texts, floods),
  connections: suite(openSocketWorld, sockets),
  guesses: suite(openGuessWorld, guesses),
  files: suite(openRootWorld, files),
}
