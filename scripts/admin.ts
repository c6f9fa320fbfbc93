import { knownOptions } from './admin/arguments.ts'
import { runAdmin } from './admin/run.ts'
import { rejectSwallowedOptions } from './npm-flags.ts'

// Administers the service: `npm run admin -- accounts list`.

/** Returns a signal that Ctrl-C aborts: the command ends after what it does at this moment. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort())
  return controller.signal
}

const args = process.argv.slice(2)
rejectSwallowedOptions('admin', knownOptions(args))
process.exitCode = await runAdmin(args, {
  env: process.env,
  terminal: { input: process.stdin, output: process.stderr },
  interruption,
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
