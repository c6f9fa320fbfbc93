import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Chromium without its windows comes first: it takes two thirds of the time. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

const FOLDERS = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)]

/** The Chromium of this machine: the one in `CHROMIUM`, or the first of these names that is installed. */
export const executablePath = [
  process.env.CHROMIUM ?? '',
  ...NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))),
].find((path) => path !== '' && existsSync(path))

/** Why tests in a browser are skipped; false if they run. */
export const skip = executablePath ? false : 'Chromium is not installed'

/** Pages live for seconds: optimizing, and compiling on other threads, costs more time than it saves. */
const JS_FLAGS = '--js-flags=--no-maglev --no-turbofan --single-threaded'

/** Nobody looks at the pages: a process of its own that draws them costs a tenth of the time. */
export const ARGUMENTS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--in-process-gpu',
  '--renderer-process-limit=1',
  JS_FLAGS,
]
