import { Page } from '../ui/Page'

export function PersonPage() {
  return <Page title="Person">{null}</Page>
}
