// The way in for owners while their identity provider does not work.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { answer, openApi } from '../api/client'
import { toFailure } from '../api/failure'
import { FormProblem } from '../ui/FormProblem'
import { Card, CardButton } from './Card'

export function OwnerByMail({ email, onBack }: { email: string; onBack: () => void }) {
  const [isSent, setSent] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const send = async () => {
    setBusy(true)
    setProblem(null)
    await answer(openApi.POST('/api/login/recovery/', { body: { email } })).then(
      () => setSent(true),
      (error: unknown) => setProblem(toFailure(error).message),
    )
    setBusy(false)
  }
  const links = <CardButton onClick={onBack}>Use another address</CardButton>
  if (isSent)
    return (
      <Card
        title="Check your mail"
        text={`If ${email} belongs to an owner of the organization, a link is on its way to it.`}
        links={links}
      />
    )
  return (
    <Card
      title="Sign in by mail"
      text={`Owners can sign in with a link that is sent to ${email}, for when the identity provider does not work. It works once, and every owner is notified.`}
      links={links}
    >
      <FormProblem>{problem}</FormProblem>
      <Button onClick={() => void send()} loading={isBusy} autoFocus>
        Send me a link
      </Button>
    </Card>
  )
}
