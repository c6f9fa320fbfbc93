import { knownOptions } from './admin/arguments.ts'
import { runAdmin } from './admin/run.ts'
import { rejectSwallowedOptions } from './npm-flags.ts'

// Administers the service: `npm run admin -- accounts list`.

const args = process.argv.slice(2)
rejectSwallowedOptions('admin', knownOptions(args))
process.exitCode = await runAdmin(args, {
  env: process.env,
  terminal: { input: process.stdin, output: process.stderr },
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
