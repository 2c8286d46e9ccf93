// Prints the schema as SDL for docs/schema.graphql (`npm run schema`).
import { printSchema } from 'graphql'
import { graphqlSchema } from './schema.ts'

process.stdout.write(`${printSchema(graphqlSchema())}\n`)
