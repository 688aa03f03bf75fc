import { Page } from '../ui/Page'

export function ServerPage() {
  return <Page title="Server">{null}</Page>
}
