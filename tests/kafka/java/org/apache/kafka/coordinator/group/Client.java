package org.apache.kafka.coordinator.group;

import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Client that asks: a client id and the last number of an address. */
record Client(String clientId, int host) implements AuthorizableRequestContext {
    @Override
    public InetAddress clientAddress() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) host});
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public String listenerName() {
        return "";
    }

    @Override
    public SecurityProtocol securityProtocol() {
        return SecurityProtocol.PLAINTEXT;
    }

    @Override
    public KafkaPrincipal principal() {
        return KafkaPrincipal.ANONYMOUS;
    }

    @Override
    public int requestType() {
        return 0;
    }

    @Override
    public int requestVersion() {
        return 0;
    }

    @Override
    public int correlationId() {
        return 0;
    }
}
