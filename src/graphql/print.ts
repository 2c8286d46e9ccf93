// Prints the schema as SDL: `npm run schema` keeps docs/schema.graphql so.
import { printSchema } from 'graphql'
import { buildSchema } from './schema.ts'

process.stdout.write(`${printSchema(buildSchema())}\n`)
