// Settings for a command: options of the command line win, then the environment, then .env in the current folder. Secrets
// are taken out of the environment.
import { readConfig, type Config } from '../app/config.ts'
import { holdsInstallation } from '../app/data-folder.ts'
import { readEnvFile } from '../app/env-file.ts'
import { SECRET_SETTINGS, showSetting } from '../app/shown-settings.ts'
import { meantSetting } from '../app/unknown-settings.ts'
import { UserError } from './command.ts'

type Surroundings = {
  folder: string
  env: Record<string, string | undefined>
  tell(line: string): void
}

const HERE: Surroundings = {
  folder: process.cwd(),
  env: process.env,
  tell: (line) => void process.stderr.write(`longshore: ${line}\n`),
}

/** A child process or a crash report cannot show what is no longer in the environment. */
export function takeConfig(
  options: Record<string, string> = {},
  { folder, env, tell }: Surroundings = HERE,
): Config {
  const file = readEnvFile(folder)
  const names = [...Object.keys(env), ...Object.keys(file)]
  for (const name of new Set(names)) {
    const meant = meantSetting(name)
    if (meant !== null) tell(`${name} is not a setting: did you mean ${meant}?`)
  }
  const config = readConfig({ ...file, ...env, ...options })
  for (const name of SECRET_SETTINGS) delete env[name]
  return config
}

/** For commands that work on what a server has made: in the wrong folder they would make an empty database and find all well. */
export async function takeInstalledConfig(): Promise<Config> {
  const config = takeConfig()
  if (await holdsInstallation(config)) return config
  throw new UserError(
    `${showSetting('DATA_DIR', config.DATA_DIR)} holds no installation: set DATA_DIR to the folder of one, or DATABASE_URL to its database`,
  )
}
