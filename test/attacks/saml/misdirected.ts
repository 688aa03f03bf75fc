// Answers that the provider has signed, and that are not for us, not for now, or about nobody.
import { ASSERTION, edited, tampered, wrong, type HostileAnswer } from './hostile-answer.ts'

const meantForOthers: readonly HostileAnswer[] = [
  wrong('another issuer', /issuer differs: expected .*got https:\/\/other/, () => ({
    issuer: 'https://other.example/metadata',
  })),
  tampered('another issuer of the response alone', /issuer differs/, (xml, { idp }) =>
    xml.replace(`>${idp.entity_id}</saml:Issuer>`, '>https://other.example</saml:Issuer>'),
  ),
  edited('no issuer of the assertion', /issuer differs: .*got nothing/, (xml, { idp }) =>
    xml.replace(ASSERTION, (each) => each.replace(`>${idp.entity_id}<`, '><')),
  ),
  wrong('another audience', /audience differs: expected .*got https:\/\/other/, () => ({
    audience: 'https://other.example',
  })),
  wrong('an audience that begins like ours', /audience differs/, ({ site_url }) => ({
    audience: `${site_url}.evil.example`,
  })),
  edited('no audience', /audience differs: .*got none/, (xml) =>
    xml.replace(/<saml:AudienceRestriction>[\s\S]*<\/saml:AudienceRestriction>/, ''),
  ),
  edited('two restrictions, one of them for others', /audience differs/, (xml) =>
    xml.replace(
      '</saml:Conditions>',
      '<saml:AudienceRestriction><saml:Audience>https://other.example</saml:Audience></saml:AudienceRestriction></saml:Conditions>',
    ),
  ),
  edited('a condition that nobody knows', /condition that is not known/, (xml) =>
    xml.replace('</saml:Conditions>', '<saml:Condition/></saml:Conditions>'),
  ),
  wrong('another recipient', /recipient differs: expected .*got https:\/\/other/, () => ({
    recipient: 'https://other.example/complete/saml/',
  })),
  edited('no recipient', /recipient differs: .*got nothing/, (xml) => xml.replace(/ Recipient="[^"]*"/, '')),
  wrong('another destination', /destination differs/, () => ({
    destination: 'https://other.example/complete/saml/',
    signs: 'both',
  })),
  tampered('another destination, unsigned', /destination differs/, (xml) =>
    xml.replace(/ Destination="[^"]*"/, ' Destination="https://other.example/"'),
  ),
  edited('no bearer', /bearer method/, (xml) => xml.replace('cm:bearer', 'cm:sender-vouches')),
  edited('the request of somebody else in the assertion', /does not belong to the request/, (xml) =>
    xml.replace(ASSERTION, (each) => each.replace(/ InResponseTo="[^"]*"/, ' InResponseTo="_other"')),
  ),
  edited('no request in the assertion', /does not belong to the request/, (xml) =>
    xml.replace(ASSERTION, (each) => each.replace(/ InResponseTo="[^"]*"/, '')),
  ),
]

const from = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
/** To so many minutes from now, or to a text. */
const setTime = (name: string, value: number | string) => (xml: string) =>
  xml.replaceAll(
    new RegExp(` ${name}="[^"]*"`, 'g'),
    ` ${name}="${typeof value === 'number' ? from(value) : value}"`,
  )

const notNow: readonly HostileAnswer[] = [
  edited('an expired answer', /valid until .*too old/, setTime('NotOnOrAfter', -2)),
  edited(
    'an answer that is not valid yet',
    /valid from .*clocks are apart by \d+ s/,
    setTime('NotBefore', 3),
  ),
  edited('an answer of the future', /clocks are apart/, setTime('IssueInstant', 3)),
  edited('an answer without an end', /no NotOnOrAfter/, (xml) =>
    xml.replaceAll(/ NotOnOrAfter="[^"]*"/g, ''),
  ),
  edited('an end that is no instant', /not an instant/, setTime('NotOnOrAfter', 'tomorrow')),
  edited('an end in the local time of nobody', /not an instant/, setTime('NotOnOrAfter', '2100-01-01')),
  edited('a session that has ended', /valid until/, (xml) =>
    xml.replace('<saml:AuthnStatement', `<saml:AuthnStatement SessionNotOnOrAfter="${from(-5)}"`),
  ),
]

const aboutNobody: readonly HostileAnswer[] = [
  {
    ...wrong('a refusal of the provider', /did not sign anybody in.*Responder/, () => ({
      status: 'urn:oasis:names:tc:SAML:2.0:status:Responder',
    })),
    code: 'provider_refused',
  },
  wrong('an encrypted assertion', /encrypted/, () => ({ is_encrypted: true, signs: 'response' })),
  {
    ...wrong('no address', /No attribute holds an e-mail address.*Seen attributes: team/, () => ({
      attributes: { team: 'x' },
      name_id: 'mallory',
      name_id_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    })),
    code: 'no_email',
  },
  edited('two subjects', /more than one Subject/, (xml) =>
    xml.replace(/<saml:Subject>[\s\S]*?<\/saml:Subject>/, (each) => each + each),
  ),
  edited('two name ids', /more than one NameID/, (xml) =>
    xml.replace(/<saml:NameID[\s\S]*?<\/saml:NameID>/, (each) => each + each),
  ),
]

export const MISDIRECTED: readonly HostileAnswer[] = [...meantForOthers, ...notNow, ...aboutNobody]
