import { Page } from '../ui/Page'

export function PersonsPage() {
  return <Page title="People">{null}</Page>
}
