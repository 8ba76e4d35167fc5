# The program with ONNX Runtime inside, as a user without rights, on a root that may be read-only:
#   docker build -t mdmgen . && docker run --rm --read-only mdmgen generate --seed 1
#   docker build -t mdmgen:cuda --build-arg DEVICE=cuda .
# examples/docker/steps.sh runs these steps without Docker; docs/install.md has more.

# Tags move. A release pins each by the digest that `docker buildx imagetools inspect IMAGE` prints:
#   ARG GO_IMAGE=golang:1.26-bookworm@sha256:…
ARG GO_IMAGE=golang:1.26-bookworm
ARG PYTHON_IMAGE=python:3.12-slim-bookworm
ARG CPU_IMAGE=debian:bookworm-slim
ARG CUDA_IMAGE=nvidia/cuda:13.0.1-cudnn-runtime-ubuntu24.04
# cpu or cuda.
ARG DEVICE=cpu

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
# go.sum has the hashes of all modules.
RUN go mod download
COPY . .
# The binding of ONNX Runtime is C.
RUN CGO_ENABLED=1 go build -trimpath -ldflags='-s -w' -o /out/bin/mdmgen ./cmd/mdmgen

# The program fetches the runtime that it pins, and checks its hash.
FROM ${PYTHON_IMAGE} AS runtime
ARG DEVICE
COPY --from=build /out /out
RUN MDMGEN_CACHE=/cache /out/bin/mdmgen runtime install $(test "$DEVICE" = cpu || echo "--$DEVICE") \
    && mkdir /out/lib && mv /cache/runtime/onnxruntime-* /out/lib/mdmgen

FROM ${CPU_IMAGE} AS cpu
FROM ${CUDA_IMAGE} AS cuda

FROM ${DEVICE}
COPY --from=runtime --chown=0:0 /out /usr/local
RUN mkdir /data && chown 65532:65532 /data
ENV HOME=/data MDMGEN_CACHE=/data/cache
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["mdmgen"]
CMD ["--help"]
