// What a domain may be called and what may be set on it, as tables of cases.
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../platform/http/errors.ts'
import { validate } from '../../platform/http/validate.ts'
import { makeCertificate } from './fixture/certificate.ts'
import { changesFor, hasSaml, newChallenge } from './rules.ts'
import { NO_SCIM_TOKEN } from './scim-token.ts'
import { DomainCreate, DomainUpdate, type DomainFields, type DomainRow } from './schema.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const DAY_MS = 24 * 60 * 60 * 1000
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS)

const certificate = makeCertificate()
const SAML = {
  saml_entity_id: 'https://idp.example/',
  saml_acs_url: 'https://idp.example/sso',
  saml_x509_cert: certificate.pem,
}

function row(fields: Partial<DomainRow> = {}): DomainRow {
  return {
    id: '01900000-0000-7000-8000-000000000000',
    organization_id: '01900000-0000-7000-8000-000000000001',
    domain: 'old.example',
    verification_challenge: 'the old challenge',
    verified_at: null,
    last_verification_retry: null,
    recheck_failed_at: null,
    jit_provisioning_enabled: false,
    sso_enforcement: '',
    saml_entity_id: null,
    saml_acs_url: null,
    saml_x509_cert: null,
    scim_token_hash: null,
    scim_token_mask: null,
    scim_token_made_at: null,
    scim_refused_at: null,
    saml_allow_idp_initiated: false,
    oidc_issuer: null,
    oidc_client_id: null,
    oidc_client_secret: null,
    provider_changed_at: null,
    created_at: daysAgo(100),
    updated_at: daysAgo(100),
    ...fields,
  }
}

/** `code attr` of what is thrown, or null. */
function refusal(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.attr}`
  }
}

const named = (domain: unknown) => validate(DomainCreate, { domain }).domain
const changed = (field: string, value: unknown) => validate(DomainUpdate, { [field]: value })

describe('the name of a domain', () => {
  it.each([
    ['example.com', 'example.com'],
    ['  example.com ', 'example.com'],
    ['EXAMPLE.Com', 'example.com'],
    ['example.com.', 'example.com'],
    ['a.b.c.d.example', 'a.b.c.d.example'],
    ['my-company.co', 'my-company.co'],
    ['9to5.example', '9to5.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['mail.xn--bcher-kva.example', 'mail.xn--bcher-kva.example'],
    ['xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai'],
    [`${'a'.repeat(120)}.example`, `${'a'.repeat(120)}.example`],
    [`${'a'.repeat(120)}.example.`, `${'a'.repeat(120)}.example`],
  ])('%j is taken as %j', (given, expected) => {
    expect(named(given)).toBe(expected)
  })

  it.each([
    ['example', 'invalid_input domain'],
    ['example.c', 'invalid_input domain'],
    ['example..com', 'invalid_input domain'],
    ['example.com..', 'invalid_input domain'],
    ['.example.com', 'invalid_input domain'],
    ['-example.com', 'invalid_input domain'],
    ['example-.com', 'invalid_input domain'],
    ['exa--mple.com', 'invalid_input domain'],
    ['exa_mple.com', 'invalid_input domain'],
    ['example.com/path', 'invalid_input domain'],
    ['https://example.com', 'invalid_input domain'],
    ['user@example.com', 'invalid_input domain'],
    ['*.example.com', 'invalid_input domain'],
    ['exam ple.com', 'invalid_input domain'],
    ['example.com\nevil.com', 'invalid_input domain'],
    ['192.0.2.1', 'invalid_input domain'],
    ['example.c0m', 'invalid_input domain'],
    ['bücher.example', 'invalid_input domain'],
    [`${'a'.repeat(121)}.example`, 'max_length domain'],
    ['', 'blank domain'],
    ['   ', 'blank domain'],
    ['.', 'invalid_input domain'],
    [null, 'null domain'],
    [undefined, 'required domain'],
    [5, 'invalid_input domain'],
    [['example.com'], 'invalid_input domain'],
  ])('%j is refused: %s', (given, expected) => {
    expect(refusal(() => named(given))).toBe(expected)
  })
})

describe('single fields', () => {
  it.each([
    ['sso_enforcement', 'saml'],
    ['sso_enforcement', 'google-oauth2'],
    ['sso_enforcement', 'github'],
    ['sso_enforcement', 'gitlab'],
    ['sso_enforcement', ''],
    ['jit_provisioning_enabled', true],
    ['saml_entity_id', 'x'.repeat(512)],
    ['saml_entity_id', ''],
    ['saml_entity_id', null],
    ['saml_acs_url', `https://idp.example/${'x'.repeat(492)}`],
    ['saml_acs_url', 'http://idp.internal/sso'],
    ['saml_acs_url', ''],
    ['saml_acs_url', null],
    ['saml_x509_cert', ''],
    ['saml_x509_cert', null],
  ])('%s takes %j', (field, value) => {
    expect(changed(field, value)).toEqual({ [field]: value })
  })

  it.each([
    ['sso_enforcement', 'samll', 'invalid_choice sso_enforcement'],
    ['sso_enforcement', 'SAML', 'invalid_choice sso_enforcement'],
    ['sso_enforcement', null, 'null sso_enforcement'],
    ['sso_enforcement', 1, 'invalid_input sso_enforcement'],
    ['jit_provisioning_enabled', 'maybe', 'invalid_input jit_provisioning_enabled'],
    ['jit_provisioning_enabled', null, 'null jit_provisioning_enabled'],
    ['saml_entity_id', 'x'.repeat(513), 'max_length saml_entity_id'],
    ['saml_entity_id', {}, 'invalid_input saml_entity_id'],
    ['saml_acs_url', `https://idp.example/${'x'.repeat(493)}`, 'max_length saml_acs_url'],
    ['saml_acs_url', 'javascript:alert(1)', 'invalid_input saml_acs_url'],
    ['saml_acs_url', '/relative', 'invalid_input saml_acs_url'],
  ])('%s refuses %j', (field, value, expected) => {
    expect(refusal(() => changed(field, value))).toBe(expected)
  })
})

describe('the certificate', () => {
  const { pem, base64, private_key_pem } = certificate

  it.each([
    ['PEM', pem.trim()],
    ['PEM with the line breaks of Windows', pem.trim().replaceAll('\n', '\r\n')],
    ['bare base64', base64],
    ['bare base64 in lines', base64.replace(/.{64}/g, '$&\n')],
  ])('is taken as %s', (_case, value) => {
    expect(changed('saml_x509_cert', value)).toEqual({ saml_x509_cert: value })
  })

  it.each([
    ['prose', 'not a certificate'],
    ['base64 of something else', Buffer.from('something else').toString('base64')],
    ['half of one', base64.slice(0, 100)],
    ['one in angle brackets', `<${base64}>`],
    ['PEM without its end', pem.replace('-----END', '-----FIN')],
    ['a private key', private_key_pem],
    ['a private key before it', private_key_pem + pem],
    ['a private key after it', pem + private_key_pem],
    ['six of them', pem.repeat(6)],
  ])('is refused when it is %s', (_case, value) => {
    expect(refusal(() => changed('saml_x509_cert', value))).toBe('invalid_input saml_x509_cert')
  })
})

describe('what a change does', () => {
  const verified = { verified_at: daysAgo(50) }

  it.each<[string, Partial<DomainRow>, DomainFields, Partial<DomainRow>]>([
    ['SAML settings before verification', {}, SAML, SAML],
    [
      'provisioning of a verified domain',
      verified,
      { jit_provisioning_enabled: true },
      { jit_provisioning_enabled: true },
    ],
    [
      'lifting SAML and clearing a setting at once',
      { ...verified, ...SAML, sso_enforcement: 'saml' },
      { sso_enforcement: '', saml_entity_id: null },
      { sso_enforcement: '', saml_entity_id: null },
    ],
    [
      'replacing a setting while SAML is enforced',
      { ...verified, ...SAML, sso_enforcement: 'saml' },
      { saml_entity_id: 'new' },
      { saml_entity_id: 'new' },
    ],
    [
      'the enforcement that is there already',
      { ...verified, ...SAML, sso_enforcement: 'saml' },
      { sso_enforcement: 'saml' },
      { sso_enforcement: 'saml' },
    ],
    ['the same name again', verified, { domain: 'old.example' }, { domain: 'old.example' }],
    [
      'a field given as undefined',
      verified,
      { domain: 'old.example', saml_entity_id: undefined },
      { domain: 'old.example' },
    ],
  ])('%s', (_case, before, fields, expected) => {
    expect(changesFor(row(before), fields)).toEqual(expected)
  })

  it('another name voids what the old one had proved', () => {
    const before = row({
      ...verified,
      ...SAML,
      jit_provisioning_enabled: true,
      sso_enforcement: 'saml',
      recheck_failed_at: daysAgo(3),
    })
    const changes = changesFor(before, { domain: 'new.example' })
    expect(changes).toEqual({
      domain: 'new.example',
      verified_at: null,
      last_verification_retry: null,
      recheck_failed_at: null,
      verification_challenge: expect.stringMatching(/^[\w-]{43}$/),
      jit_provisioning_enabled: false,
      sso_enforcement: '',
      ...NO_SCIM_TOKEN,
    })
  })

  it.each<[string, Partial<DomainRow>, DomainFields, string]>([
    [
      'provisioning',
      {},
      { jit_provisioning_enabled: true },
      'verification_required jit_provisioning_enabled',
    ],
    [
      'provisioning off',
      {},
      { jit_provisioning_enabled: false },
      'verification_required jit_provisioning_enabled',
    ],
    ['enforcement', {}, { sso_enforcement: 'github' }, 'verification_required sso_enforcement'],
    [
      'both: the first counts',
      {},
      { sso_enforcement: 'github', jit_provisioning_enabled: true },
      'verification_required jit_provisioning_enabled',
    ],
    [
      'a new name and enforcement at once',
      { ...verified, ...SAML },
      { domain: 'new.example', sso_enforcement: 'saml' },
      'verification_required sso_enforcement',
    ],
    ['SAML without its settings', verified, { sso_enforcement: 'saml' }, 'invalid_input sso_enforcement'],
    [
      'SAML with an empty setting',
      { ...verified, ...SAML, saml_x509_cert: '' },
      { sso_enforcement: 'saml' },
      'invalid_input sso_enforcement',
    ],
    [
      'SAML while clearing a setting',
      { ...verified, ...SAML },
      { sso_enforcement: 'saml', saml_acs_url: '' },
      'invalid_input sso_enforcement',
    ],
    [
      'clearing the certificate under SAML',
      { ...verified, ...SAML, sso_enforcement: 'saml' },
      { saml_x509_cert: null },
      'invalid_input saml_x509_cert',
    ],
    [
      'emptying the entity id under SAML',
      { ...verified, ...SAML, sso_enforcement: 'saml' },
      { saml_entity_id: '' },
      'invalid_input saml_entity_id',
    ],
    [
      'clearing the address under SAML',
      { ...verified, ...SAML, sso_enforcement: 'saml' },
      { saml_acs_url: null },
      'invalid_input saml_acs_url',
    ],
  ])('refused: %s', (_case, before, fields, expected) => {
    expect(refusal(() => changesFor(row(before), fields))).toBe(expected)
  })
})

describe('hasSaml', () => {
  it.each([
    [SAML, true],
    [{ ...SAML, saml_entity_id: null }, false],
    [{ ...SAML, saml_acs_url: '' }, false],
    [{ ...SAML, saml_x509_cert: null }, false],
  ])('case %#', (fields, expected) => {
    expect(hasSaml(fields)).toBe(expected)
  })
})

describe('newChallenge', () => {
  it('is 32 random bytes in base64url, another each time', () => {
    const challenges = Array.from({ length: 100 }, newChallenge)
    expect(new Set(challenges).size).toBe(100)
    for (const challenge of challenges) {
      expect(challenge).toMatch(/^[A-Za-z0-9_-]{43}$/)
      expect(Buffer.from(challenge, 'base64url')).toHaveLength(32)
    }
  })
})
