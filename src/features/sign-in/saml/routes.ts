// SAML over HTTP: where browsers begin and come back, and the metadata that a provider is set up with.
import { isUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { LEVELS } from '../../../platform/http/caller.ts'
import { denied, notFound } from '../../../platform/http/errors.ts'
import { ready, route } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import { findDomainById } from '../../domains/queries.ts'
import { findCurrentMembership } from '../../projects/current.ts'
import { finishSignIn } from '../provider/finish.ts'
import { startDomainSignIn } from '../provider/start.ts'
import { receiveAnswer } from './complete.ts'
import { openKeys } from './keys.ts'
import { spMetadata } from './request.ts'
import { Completed, MAX_FORM_BYTES, MetadataXml, Posted, Start } from './schema.ts'
import { saml } from './way.ts'

const XML = 'text/xml'

export const samlRoutes = [
  route({
    method: 'GET',
    path: '/login/saml/',
    summary: 'Begin to sign in through the SAML provider of a domain',
    access: 'anyone',
    guesses: 'sign-on',
    query: Start,
    answers: { 303: null },
    handle: (context) => startDomainSignIn(context, saml, context.query),
  }),

  route({
    method: 'POST',
    path: '/complete/saml/',
    summary: 'Where SAML providers send their answers (ACS)',
    access: 'anyone',
    guesses: 'sign-on',
    takes_other_sites: true,
    body: Posted,
    examples: {
      'An answer': {
        SAMLResponse: 'PHNhbWxwOlJlc3BvbnNl…',
        RelayState: '01900000-0000-7000-8000-000000000000',
      },
    },
    max_form_bytes: MAX_FORM_BYTES,
    answers: { 303: null },
    handle: (context) => receiveAnswer(context, context.body),
  }),

  route({
    method: 'GET',
    path: '/complete/saml/',
    summary: 'Finish a sign-in whose answer has arrived, in the browser that began it',
    access: 'anyone',
    guesses: 'sign-on',
    query: Completed,
    answers: { 303: null },
    handle: (context) => finishSignIn(context, saml, context.query.state, {}),
  }),

  route({
    method: 'GET',
    path: '/login/saml/metadata/:domain_id/',
    summary: 'Metadata of this service provider, for the SAML provider of a domain',
    access: 'anyone',
    answers: { 200: MetadataXml },
    also_answers: [XML],
    async handle({ services, db, params, now }) {
      const domain = isUuid(params.domain_id) ? await findDomainById(db, params.domain_id) : undefined
      if (!domain) throw notFound()
      return metadata(services, db, now)
    },
  }),

  route({
    method: 'GET',
    path: '/api/saml/metadata/',
    summary: 'Metadata of this service provider, for admins of the current organization',
    scope: 'organization:read',
    answers: { 200: MetadataXml },
    also_answers: [XML],
    async handle({ services, db, caller, now }) {
      const current = await findCurrentMembership(db, caller)
      if (!current || current.level < LEVELS.admin)
        throw denied('Only admins of an organization can do this.')
      return metadata(services, db, now)
    },
  }),
]

async function metadata(services: Services, db: Db, now: Date) {
  return ready(
    `${XML}; charset=utf-8`,
    spMetadata(services.settings.site_url, await openKeys(services, db, now)),
  )
}
