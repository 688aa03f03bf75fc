// What SAML's paths take and give.
import { z } from 'zod'
import { verbatim } from '../../../platform/http/fields.ts'
import { MAX_ANSWER_BYTES } from './answer.ts'
import { MAX_METADATA_BYTES } from './idp-metadata.ts'

/** base64 makes four characters of three bytes, and lines may be broken. */
const MAX_ANSWER = Math.ceil(MAX_ANSWER_BYTES * 1.5)
/** A form is larger than the answer in it: some characters are written as three. */
export const MAX_FORM_BYTES = 2 * MAX_ANSWER_BYTES

export const Start = z.object({
  email: z.string().max(254).optional().describe('An address of the domain.'),
  domain: z.string().max(100).optional().describe('The id of the domain, in place of an address.'),
  next: z.string().max(2000).optional().describe('The path of this server to go to afterwards.'),
  test: z.string().max(500).optional().describe('Of an address that `test_sso/` gave: nothing is changed.'),
})

export const Posted = z.object({
  SAMLResponse: z.string().max(MAX_ANSWER),
  RelayState: z.string().max(2000).optional().describe('The id of the domain.'),
})

export const Completed = z.object({ state: z.string().max(200).optional() })

export const MetadataXml = z.string().describe('SAML 2.0 metadata, XML.')

export const IdpMetadataSource = z
  .object({
    xml: verbatim({ max: MAX_METADATA_BYTES }).optional().describe('The document itself.'),
    url: verbatim({ max: 2000 }).optional().describe('Where it can be fetched.'),
  })
  .refine(({ xml, url }) => (xml === undefined) !== (url === undefined), {
    message: 'Give either `xml` or `url`.',
  })
