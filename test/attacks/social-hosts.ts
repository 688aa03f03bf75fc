// Google, GitHub and GitLab as the program under attack finds them: under their own names, by https, with an application of
// the instance registered at each.
import type { KeyObject } from 'node:crypto'
import {
  startGitHubAccounts,
  startGitLabAccounts,
  type CodeHostAccounts,
} from '../stand-ins/code-host-accounts.ts'
import { startHttpsNames } from '../stand-ins/https-names.ts'
import { startOpenidProvider, type OpenidProvider } from '../stand-ins/openid-provider.ts'
import { OUTSIDE } from './scene.ts'

export const SOCIAL_NAMES = ['accounts.google.com', 'github.com', 'api.github.com', 'gitlab.com']

export type SocialHosts = {
  'google-oauth2': OpenidProvider
  github: CodeHostAccounts
  gitlab: CodeHostAccounts
  /** For the program. */
  settings: Record<string, string>
  close(): Promise<void>
}

export type SocialProvider = 'google-oauth2' | 'github' | 'gitlab'

export async function openSocialHosts(
  tls: { key: string; cert: string },
  key_pair: { publicKey: KeyObject; privateKey: KeyObject },
): Promise<SocialHosts> {
  const [google, github, gitlab] = await Promise.all([
    startOpenidProvider({ issuer: 'https://accounts.google.com', key_pair }),
    startGitHubAccounts(),
    startGitLabAccounts(),
  ])
  // Google does not name itself in its answers.
  google.metadata.authorization_response_iss_parameter_supported = false
  const front = await startHttpsNames(tls, OUTSIDE, {
    'accounts.google.com': `http://127.0.0.1:${google.port}`,
    'github.com': github.url,
    'api.github.com': github.url,
    'gitlab.com': gitlab.url,
  })
  return {
    'google-oauth2': google,
    github,
    gitlab,
    settings: {
      TEST_HTTPS_PORT: String(front.port),
      SOCIAL_AUTH_GOOGLE_OAUTH2_KEY: google.client_id,
      SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET: google.client_secret,
      SOCIAL_AUTH_GITHUB_KEY: github.client_id,
      SOCIAL_AUTH_GITHUB_SECRET: github.client_secret,
      SOCIAL_AUTH_GITLAB_KEY: gitlab.client_id,
      SOCIAL_AUTH_GITLAB_SECRET: gitlab.client_secret,
    },
    async close() {
      front.close()
      await Promise.all([google, github, gitlab].map((server) => server.close()))
    },
  }
}
