# The default image holds the program and nothing else:
#   docker build -t tracetool .
#   docker run --rm -v "$PWD:/work" tracetool validate traces
# CI services want a shell in the image:
#   docker build -t tracetool:ci --target ci .

FROM debian:bookworm-slim AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN make static \
    && rm -rf /var/lib/apt/lists/*

FROM debian:bookworm-slim AS ci
COPY --from=build /source/build/static/tracetool /usr/local/bin/tracetool
COPY --from=build /source/build/static/THIRD-PARTY-NOTICES /usr/local/share/doc/tracetool/
USER 65532:65532
WORKDIR /work
CMD ["tracetool", "--help"]

FROM scratch
COPY --from=build /source/build/static/THIRD-PARTY-NOTICES /
COPY --from=build /source/build/static/tracetool /
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/tracetool"]
CMD ["--help"]
