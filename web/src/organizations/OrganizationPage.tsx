import { Page } from '../ui/Page'

export function OrganizationPage() {
  return <Page title="Organization">{null}</Page>
}
