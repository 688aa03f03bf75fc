// The whole way through an identity provider that others wrote, in a browser: set up from its metadata, requests that it
// checks, its page to sign in on, and its signed answer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addSamlDomain } from '../../src/features/sign-in/saml/fixture/domain.ts'
import { openKeys } from '../../src/features/sign-in/saml/keys.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openIdentityProvider } from '../stand-ins/identity-provider.ts'
import { IS_SIMPLESAMLPHP_HERE, startSimpleSamlPhp, type SimpleSamlPhp } from '../stand-ins/simplesamlphp.ts'
import { jsonOf, openVisitor, type Visitor } from './visitor.ts'

const ME = '/api/users/@me/'
const USERS = {
  'ada:lace': { email: 'ada@acme.example', first_name: 'Ada', last_name: 'Lovelace' },
  'eve:dropper': { email: 'eve@elsewhere.example', first_name: 'Eve', last_name: 'E' },
}

describe.skipIf(!IS_SIMPLESAMLPHP_HERE)(
  'SimpleSAMLphp (where it is not installed: apt-get install simplesamlphp php-cli php-xml php-mbstring)',
  () => {
    let idp: SimpleSamlPhp
    let app: TestApp
    let visitor: Visitor
    let workspace: Workspace
    let site: string
    beforeAll(async () => {
      idp = await startSimpleSamlPhp(USERS)
      app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
      site = app.services.settings.site_url
      workspace = await createOrganization(app)
      visitor = await openVisitor(app)
    })
    afterAll(async () => {
      await visitor.close()
      await app.close()
      await idp.close()
    })

    const signIn = (name: string, password: string) =>
      visitor.visit(async (page) => {
        await page.goto(
          `${site}/login/saml/?${new URLSearchParams({ email: 'ada@acme.example', next: ME }).toString()}`,
        )
        await page.fill('input[name=username]', name)
        await page.fill('input[name=password]', password)
        await page.keyboard.press('Enter')
        await page.waitForURL(`${site}/**`)
        return { url: page.url(), body: page.url().endsWith(ME) ? await jsonOf(page) : null }
      })

    it('signs people of the domain in, and nobody else', async () => {
      const { organization, owner } = workspace
      const domain = await addSamlDomain(
        app.db,
        organization.id,
        'acme.example',
        openIdentityProvider('unused.example'),
      )
      const path = `/api/organizations/${organization.id}/domains/${domain.id}/saml_metadata/`
      const read = await app.post(path, { url: idp.metadata_url }, { key: owner.key })
      expect(read.body).toMatchObject({
        has_saml: true,
        saml_entity_id: idp.metadata_url,
        saml_certificates: [{ subject: 'CN=simplesamlphp' }],
      })
      const acs_url = `${site}/complete/saml/`
      const { certificates } = await openKeys(app.services, app.db, app.services.now())
      await idp.trust({ entity_id: site, acs_url, certificate: certificates[0]! })
      const ada = await signIn('ada', 'lace')
      expect(ada.body).toMatchObject({ email: 'ada@acme.example', first_name: 'Ada', last_name: 'Lovelace' })
      const eve = await signIn('eve', 'dropper')
      expect(eve.url).toContain('error_code=email_not_in_domain')
      expect(await app.db.rows(sql`SELECT FROM app_user WHERE first_name = 'Eve'`)).toEqual([])
      // A key that signs requests and is not ours: the provider says no, which shows that it looks.
      await idp.trust({
        entity_id: site,
        acs_url,
        certificate: openIdentityProvider('other.example').certificate.pem,
      })
      await visitor.visit(async (page) => {
        await page.goto(`${site}/login/saml/?email=ada@acme.example`)
        expect(page.url()).toContain(idp.url)
        expect(await page.locator('input[name=password]').count()).toBe(0)
      })
    })
  },
)
