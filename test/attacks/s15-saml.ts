// Answers of SAML providers that were forged, changed on the way, or meant for somebody else.
import { expect } from 'vitest'
import type { DomainRow } from '../../src/features/domains/schema.ts'
import { addSamlDomain } from '../../src/features/sign-in/saml/fixture/domain.ts'
import {
  encode,
  mintAnswer,
  openIdentityProvider,
  type IdentityProvider,
} from '../stand-ins/identity-provider.ts'
import { beginSignIn, postAnswer, refusalOf } from '../stand-ins/saml-browser.ts'
import { attackEach, type Attack } from './attack.ts'
import { HOSTILE_ANSWERS } from './saml/answers.ts'
import { fieldOf, saying, type HostileAnswer } from './saml/hostile-answer.ts'
import type { Call, Scene } from './scene.ts'

const NAME = 'saml-attacks.example'

type SetUp = { idp: IdentityProvider; domain: DomainRow }
const sets = new WeakMap<Scene, Promise<SetUp>>()

/** One domain for all: each attack begins a sign-in of its own. */
function setOf(scene: Scene): Promise<SetUp> {
  const known = sets.get(scene) ?? setUp(scene)
  sets.set(scene, known)
  return known
}

async function setUp({ target, home }: Scene): Promise<SetUp> {
  const idp = openIdentityProvider(NAME)
  return { idp, domain: await addSamlDomain(target.db, home.organization.id, NAME, idp) }
}

/** From an address of its own: how often one may set out is limited, and other attacks count as well. */
const sender =
  ({ call }: Scene) =>
  (method: string, path: string, options: Call = {}) =>
    call(method, path, { ...options, from: '127.0.0.115' })

async function begin(scene: Scene) {
  const send = sender(scene)
  const { idp, domain } = await setOf(scene)
  const begun = await beginSignIn(send, { domain: domain.id })
  const site_url = /AssertionConsumerServiceURL="(.*?)\/complete\/saml\/"/.exec(begun.request)![1]!
  const people = { victim: `victim@${NAME}`, mallory: `mallory@${NAME}` }
  return { domain, begun, underWay: { idp, site_url, request_id: begun.request_id, ...people } }
}

export const attacks: Attack<Scene>[] = attackEach<Scene, HostileAnswer>(
  'S15',
  HOSTILE_ANSWERS,
  ({ name }) => `a SAML answer: ${name}`,
  async (scene, answer) => {
    const send = sender(scene)
    const { domain, begun, underWay } = await begin(scene)
    const reply = await postAnswer(send, begun, await fieldOf(answer, underWay))
    expect(reply).toMatchObject({ status: 303, session: undefined })
    const { code, id } = refusalOf(reply)
    expect(code).toBe(answer.code ?? 'answer_not_accepted')
    const { organization, owner } = scene.home
    const path = `/api/organizations/${organization.id}/domains/${domain.id}/sign_ins/${id}/`
    const record = await scene.call('GET', path, { key: owner.key })
    expect(JSON.stringify(record.body.checks)).toMatch(answer.says)
    // The honest one beside it comes in.
    const honest = await begin(scene)
    const field = encode(await mintAnswer(saying(honest.underWay)))
    expect((await postAnswer(send, honest.begun, field)).session).toEqual(expect.any(String))
  },
)
