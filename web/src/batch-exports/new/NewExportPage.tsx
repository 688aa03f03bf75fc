import { Page } from '../../ui/Page'

export function NewExportPage() {
  return <Page title="New export">{null}</Page>
}
