import { Page } from '../ui/Page'

export function AppPage() {
  return <Page title="App">{null}</Page>
}
