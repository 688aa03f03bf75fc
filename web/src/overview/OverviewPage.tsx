import { Page } from '../ui/Page'

export function OverviewPage() {
  return <Page title="Overview">{null}</Page>
}
