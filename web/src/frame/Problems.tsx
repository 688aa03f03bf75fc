// Pages in place of a page: it does not exist, it broke, it needs a second factor, or the server has a newer
// console.
import { Button } from '@mantine/core'
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { Failure, needsSecondFactor, toFailure } from '../api/failure'
import { queries } from '../queries'
import { Page } from '../ui/Page'
import { Empty, Failed, SecondFactorNeeded } from '../ui/States'
import { TextLink } from '../ui/TextLink'

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty
        title="There is nothing at this address."
        action={<TextLink to="/">Go to the overview</TextLink>}
      >
        It may have been deleted, or you may not be allowed to see it.
      </Empty>
    </Page>
  )
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    // An answer that broke the page would break it again.
    if (!(error instanceof Failure)) queries.removeQueries()
    reset()
    void router.invalidate()
  }
  if (error instanceof Failure && error.status === 404) return <NotFound />
  if (needsSecondFactor(error))
    return (
      <Page title="Second factor needed">
        <SecondFactorNeeded />
      </Page>
    )
  // Files of a console that the server no longer has: it was upgraded under an open page.
  if (/dynamically imported module|module script/i.test(toFailure(error).message)) return <Upgraded />
  return (
    <Page title="This page does not work at the moment">
      <Failed
        error={error}
        what={
          error instanceof Failure
            ? 'The page could not be shown.'
            : 'The server answers in a form that this page does not know: it may be of another version.'
        }
        onRetry={retry}
      />
    </Page>
  )
}

function Upgraded() {
  return (
    <Page title="Longshore was upgraded">
      <Empty
        title="The server has a newer console than this page."
        action={<Button onClick={() => location.reload()}>Load it</Button>}
      >
        Drafts of forms are kept.
      </Empty>
    </Page>
  )
}
