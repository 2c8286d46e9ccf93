// Prints the schema as SDL for docs/schema.graphql (`npm run schema`).
import { printSchema } from 'graphql'
import { buildSchema } from './schema.ts'

process.stdout.write(`${printSchema(buildSchema())}\n`)
