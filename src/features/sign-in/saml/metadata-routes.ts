// Setting a domain up from the metadata of its identity provider, in place of copying three fields.
import { OutboundFailed, OutboundRefused } from '../../../platform/outbound/errors.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { ok, route } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import { changeDomain } from '../../domains/change.ts'
import { getDomain } from '../../domains/get-domain.ts'
import { presentDomain } from '../../domains/present.ts'
import { lockDomain } from '../../domains/queries.ts'
import { changesFor } from '../../domains/rules.ts'
import { Domain } from '../../domains/schema.ts'
import { MAX_METADATA_BYTES, MetadataFault, readIdpMetadata, type IdpMetadata } from './idp-metadata.ts'
import { IdpMetadataSource } from './schema.ts'

const MAX_REDIRECTS = 3

type Source = { xml?: string | undefined; url?: string | undefined }

export const idpMetadataRoutes = [
  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/:id/saml_metadata/',
    summary: 'Fill in the SAML settings of a domain from the metadata of its identity provider',
    scope: 'organization:write',
    level: 'admin',
    item: ({ db, organization, params }) => getDomain(db, organization.id, params.id),
    body: IdpMetadataSource,
    examples: {
      'From its address': { url: 'https://idp.example.com/metadata' },
      'As text': { xml: '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" …' },
    },
    // No connection is held while a stranger's server thinks.
    prove: ({ services, body, request, now }) => readSource(services, body, request.signal, now),
    answers: { 200: Domain },
    async handle(context) {
      const { services, db, organization, item, proof: fields } = context
      const row = await db.transaction(async (tx) => {
        const before = await lockDomain(tx, organization.id, item.id)
        return changeDomain(tx, context, before, changesFor(before, fields))
      })
      return ok(presentDomain(services, row))
    },
  }),
]

async function readSource(
  services: Services,
  { xml, url }: Source,
  signal: AbortSignal | undefined,
  now: Date,
): Promise<IdpMetadata> {
  const attr = xml === undefined ? 'url' : 'xml'
  try {
    return readIdpMetadata(xml ?? (await fetchXml(services, url!, signal)), now)
  } catch (error) {
    const isTheirs = [MetadataFault, OutboundRefused, OutboundFailed].some((kind) => error instanceof kind)
    throw isTheirs ? invalid(attr, 'invalid_input', (error as Error).message) : error
  }
}

async function fetchXml(
  { outbound }: Services,
  url: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const answer = await outbound.fetch(url, {
    headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
    max_bytes: MAX_METADATA_BYTES,
    redirects: MAX_REDIRECTS,
    ...(signal ? { signal } : {}),
  })
  if (answer.status !== 200) throw new MetadataFault(`The address answered with status ${answer.status}.`)
  return answer.body.toString('utf8')
}
