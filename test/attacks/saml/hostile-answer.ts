// How a hostile answer is written down. Mallory has an account at the provider of the domain and signs in there as herself;
// by what she then sends she tries to be the victim, or to be let in at all. A row says what the admin's log tells of it.
import { encode, mintAnswer, type IdentityProvider, type Said } from '../../stand-ins/identity-provider.ts'

/** A sign-in on its way: what an answer to it has to say, and how to have it said. */
export type SignInUnderWay = {
  idp: IdentityProvider
  site_url: string
  request_id: string
  victim: string
  mallory: string
  mint(changes?: Partial<Said>): Promise<string>
}

export type HostileAnswer = {
  name: string
  /** What the failed check says. */
  says: RegExp
  /** What the person is told, where it is not that the answer could not be accepted. */
  code?: string
  /** The XML, or the whole field where it is not the base64 of XML. */
  make(underWay: SignInUnderWay): Promise<string | { field: string }>
}

export const row = (name: string, says: RegExp, make: HostileAnswer['make']): HostileAnswer => ({
  name,
  says,
  make,
})

/** What an honest provider says of Mallory; `changes` are the lies. */
export function saying(
  { idp, site_url, request_id, mallory }: Omit<SignInUnderWay, 'mint'>,
  changes: Partial<Said> = {},
): Said {
  return {
    issuer: idp.entity_id,
    certificate: idp.certificate,
    audience: site_url,
    recipient: `${site_url}/complete/saml/`,
    destination: `${site_url}/complete/saml/`,
    request_id,
    attributes: { email: mallory, first_name: 'Mallory', last_name: 'M' },
    name_id: mallory,
    name_id_format: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
    lifetime_s: 300,
    signs: 'assertion',
    algorithm: 'sha256',
    status: 'urn:oasis:names:tc:SAML:2.0:status:Success',
    is_encrypted: false,
    edit: (xml) => xml,
    ...changes,
  }
}

/** Parts of an answer, as samlp and xml-crypto write them. */
export const ASSERTION = /<saml:Assertion\b[\s\S]*?<\/saml:Assertion>/
export const SIGNATURE = /<(?:ds:)?Signature\b[\s\S]*?<\/(?:ds:)?Signature>/
export const withoutSignature = (xml: string) => xml.replace(SIGNATURE, '')

/** Changes the signed answer of an honest provider. */
export const tampered = (
  name: string,
  says: RegExp,
  change: (xml: string, underWay: SignInUnderWay) => string,
  said: Partial<Said> = {},
) =>
  row(name, says, async (underWay) => {
    const honest = await underWay.mint(said)
    const changed = change(honest, underWay)
    if (changed === honest) throw new Error(`${name}: nothing was changed`)
    return changed
  })

/** An answer that the provider itself signs, and that is not for us, not now, or not about this. */
export const wrong = (name: string, says: RegExp, changes: (underWay: SignInUnderWay) => Partial<Said>) =>
  row(name, says, (underWay) => underWay.mint(changes(underWay)))

/** Signed after the change. */
export const edited = (
  name: string,
  says: RegExp,
  edit: (xml: string, underWay: SignInUnderWay) => string,
  said: Partial<Said> = {},
) =>
  wrong(name, says, (underWay) => ({
    ...said,
    edit: (xml) => {
      const changed = edit(xml, underWay)
      if (changed === xml) throw new Error(`${name}: nothing was changed`)
      return changed
    },
  }))

/** The field SAMLResponse of a hostile form. */
export async function fieldOf(
  answer: HostileAnswer,
  underWay: Omit<SignInUnderWay, 'mint'>,
): Promise<string> {
  const made = await answer.make({ ...underWay, mint: (changes) => mintAnswer(saying(underWay, changes)) })
  return typeof made === 'string' ? encode(made) : made.field
}
