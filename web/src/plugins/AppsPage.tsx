import { Page } from '../ui/Page'

export function AppsPage() {
  return <Page title="Apps">{null}</Page>
}
