import { Page } from '../ui/Page'

export function AccountPage() {
  return <Page title="Account">{null}</Page>
}
