import { buildOurs } from './bench/build.ts'
import { writeFileSync } from 'node:fs'
writeFileSync(process.argv[2]!, await buildOurs(process.argv[3]!))
