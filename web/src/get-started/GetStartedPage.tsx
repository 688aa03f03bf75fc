import { Page } from '../ui/Page'

export function GetStartedPage() {
  return <Page title="Get started">{null}</Page>
}
