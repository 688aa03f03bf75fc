import { Page } from '../ui/Page'

export function SqlPage() {
  return <Page title="SQL">{null}</Page>
}
